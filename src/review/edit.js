'use strict';
// Fields are corrected where they stand: the value by an input that fits, its quote beside it, the source in view.
(() => {
  const all = (query, of = document) => [...of.querySelectorAll(query)];
  // What is done after the page was loaded anew: the field to be shown, and whether it is to be edited.
  const KEPT = 'overnight-field';
  const formOf = line => line.closest('[data-record]').querySelector('.correct form');
  const valueOf = element => element ? element.textContent : '';
  const shownValue = line => valueOf(all('[data-place]', line).filter(one => one.dataset.place === line.dataset.field).pop());
  const quoteOf = line => line.querySelector('q[data-place]');

  const inputs = {
    number: () => Object.assign(document.createElement('input'), { inputMode: 'decimal' }),
    date: () => Object.assign(document.createElement('input'), { placeholder: '2029-08-31' }),
    choice: line => choose(JSON.parse(line.dataset.choices)),
    flag: () => choose(['true', 'false']),
    text: () => Object.assign(document.createElement('textarea'), { rows: 2 }),
    json: () => Object.assign(document.createElement('textarea'), { rows: 4 }),
  };
  const choose = values => {
    const list = document.createElement('select');
    for (const value of values) list.append(new Option(value, value));
    return list;
  };
  const labelled = (text, input) => {
    const label = document.createElement('label');
    const name = document.createElement('span');
    name.textContent = text;
    label.append(name, input);
    return label;
  };
  const button = (text, press) => {
    const one = document.createElement('button');
    one.type = 'button';
    one.textContent = text;
    one.addEventListener('click', press);
    return one;
  };

  let editor = null;
  const close = () => {
    if (!editor) return;
    const { line, box } = editor;
    box.remove();
    editor = null;
    line.focus({ preventScroll: true });
  };
  // Posts one correction. Null: it was taken; else why not.
  const post = async (form, place, value, made) => {
    const fields = new URLSearchParams(new FormData(form));
    fields.set('place', place);
    fields.set('value', value);
    fields.set('corrections', Number(fields.get('corrections')) + made);
    const answer = await fetch(form.action, { method: 'POST', body: fields, headers: { accept: 'application/json' }, redirect: 'manual' });
    if (answer.type === 'opaqueredirect' || answer.ok) return null;
    return answer.json().then(problem => problem.detail, () => 'It was not recorded: load the page anew.');
  };
  const save = async (line, next) => {
    const { value, quote, told, before } = editor;
    const form = formOf(line);
    const changes = [];
    if (value.value !== before.value) changes.push([line.dataset.field, value.value === '' && 'optional' in line.dataset ? 'null' : value.value]);
    if (quote && quote.value !== before.quote) changes.push([quoteOf(line).dataset.place, quote.value]);
    told.textContent = '';
    let made = 0;
    for (const [place, text] of changes) {
      const refused = await post(form, place, text, made);
      if (refused) {
        told.textContent = place === line.dataset.field ? `It takes ${line.dataset.wanted}. ${refused}` : refused;
        return;
      }
      made += 1;
    }
    if (!made && next) return edit(next);
    if (!made) return close();
    const shown = next || line;
    sessionStorage.setItem(KEPT, JSON.stringify({ record: shown.closest('[data-record]').id, field: shown.dataset.field, isEdited: Boolean(next) }));
    location.hash = shown.closest('[data-record]').id;
    location.reload();
  };
  const nextDoubtful = line => {
    const lines = all('.line.doubtful');
    return lines.find(one => line.compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING && one !== line) || null;
  };
  const edit = line => {
    close();
    if (!line || !formOf(line)) return;
    line.dispatchEvent(new CustomEvent('overnight-show', { bubbles: true }));
    const box = document.createElement('div');
    box.className = 'editor';
    const value = (inputs[line.dataset.input] || inputs.text)(line);
    value.value = shownValue(line);
    const inText = quoteOf(line);
    const quote = inText && inputs.text();
    if (quote) quote.value = inText.textContent;
    const told = document.createElement('p');
    told.setAttribute('role', 'alert');
    const isLine = line.matches('tr');
    box.append(labelled('New value', value));
    if (quote) box.append(labelled('Quote', quote));
    const take = button('Take the selected text', () => {
      const text = String(getSelection()).trim();
      if (text) (quote || value).value = text;
    });
    take.addEventListener('mousedown', event => event.preventDefault());
    box.append(button('Save', () => save(line)), take, button('Cancel', close), told);
    (isLine ? line.querySelector('.value') : line).append(box);
    editor = { line, box, value, quote, told, before: { value: value.value, quote: quote && quote.value } };
    box.addEventListener('keydown', event => {
      event.stopPropagation();
      if (event.key === 'Escape') close();
      if (event.key === 'Enter' && !event.shiftKey && !event.target.matches('button')) {
        event.preventDefault();
        save(line);
      }
      // From the last input on to the next field in doubt; what was changed is saved first.
      const last = quote || value;
      if (event.key === 'Tab' && !event.shiftKey && event.target === last) {
        const next = nextDoubtful(line);
        if (!next) return;
        event.preventDefault();
        save(line, next);
      }
    });
    value.focus();
  };
  document.addEventListener('overnight-edit', event => edit(event.target.closest('.line')));
  document.addEventListener('dblclick', event => {
    const line = event.target.closest('#records .line');
    if (line && !event.target.closest('.editor, a')) edit(line);
  });
  // Who comes with a mouse finds a button beside the value.
  document.addEventListener('click', event => {
    const line = event.target.closest('#records .line');
    if (!line || editor || !formOf(line) || line.querySelector('.correct-here')) return;
    const one = button('Correct', () => edit(line));
    one.className = 'correct-here';
    (line.matches('tr') ? line.querySelector('.value') : line).append(' ', one);
  });
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || 'null');
  sessionStorage.removeItem(KEPT);
  const record = kept && document.getElementById(kept.record);
  const line = record && all('.line', record).find(one => one.dataset.field === kept.field);
  if (line) {
    line.dispatchEvent(new CustomEvent('overnight-show', { bubbles: true }));
    if (kept.isEdited) edit(line);
  }
})();
