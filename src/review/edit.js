'use strict';
// Fields are corrected where they stand: the value by an input that fits, its quote beside it, the source in view.
(() => {
  const all = (query, of = document) => [...of.querySelectorAll(query)];
  // What is done after the page was loaded anew: the field to be shown, and whether it is to be edited.
  const KEPT = 'overnight-field';
  const formOf = line => line.closest('[data-record]').querySelector('.correct form');
  const valueOf = element => element ? element.textContent : '';
  const shownValue = line => valueOf(all('[data-place]', line).filter(one => one.dataset.place === line.dataset.field).pop());
  const quoteOf = line => line.querySelector('q[data-place], blockquote[data-place]');

  const inputs = {
    number: () => Object.assign(document.createElement('input'), { inputMode: 'decimal' }),
    date: () => Object.assign(document.createElement('input'), { placeholder: '2029-08-31' }),
    choice: line => choose(JSON.parse(line.dataset.choices), line),
    flag: line => choose(['true', 'false'], line),
    text: () => Object.assign(document.createElement('textarea'), { rows: 2 }),
    json: () => Object.assign(document.createElement('textarea'), { rows: 4 }),
  };
  const choose = (values, line) => {
    const list = document.createElement('select');
    if ('optional' in line.dataset) list.append(new Option('not there', ''));
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

  // What is selected in the source, and where it stands: its document, and its page or line.
  const selected = () => {
    const text = String(getSelection());
    if (!text.trim()) return null;
    const range = getSelection().getRangeAt(0);
    const of = range.startContainer;
    const part = (of.closest ? of : of.parentElement).closest('#source .part');
    const shown = part && part.querySelector('.text');
    if (!shown) return { text: text.trim() };
    const before = document.createRange();
    before.setStart(shown, 0);
    before.setEnd(of, range.startOffset);
    const source = part.closest('.source');
    const lines = (before + text.match(/^\s*/)[0]).split('\n').length - 1;
    const isPaged = 'paged' in source.dataset;
    return { text: text.trim(), document: source.dataset.document, isPaged, unit: Number(part.dataset.first) + (isPaged ? 0 : lines) };
  };
  // A button that takes the selected text: a press of it leaves the selection as it is.
  const taking = (name, take) => {
    const one = button(name, () => {
      const found = selected();
      if (found) take(found);
    });
    one.addEventListener('mousedown', event => event.preventDefault());
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
  const reload = (record, kept) => {
    if (kept) sessionStorage.setItem(KEPT, JSON.stringify({ record, ...kept }));
    location.hash = record;
    location.reload();
  };
  const save = async (line, next) => {
    const { value, quote, told, before } = editor;
    const form = formOf(line);
    const isOther = value.value !== before.value;
    const changes = [];
    const stands = quoteOf(line), taken = editor.taken;
    // Document and page first: the quote is looked for where it is said to stand.
    if (taken && taken.document && taken.document !== stands.dataset.document) changes.push([stands.dataset.documentPlace, taken.document]);
    if (taken && taken.unit && stands.dataset.unitPlace && String(taken.unit) !== stands.dataset.unit) changes.push([stands.dataset.unitPlace, String(taken.unit)]);
    if (isOther) changes.push([line.dataset.field, value.value === '' && 'optional' in line.dataset ? 'null' : value.value]);
    if (quote && quote.value !== before.quote) changes.push([stands.dataset.place, quote.value]);
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
    reload(shown.closest('[data-record]').id, { field: shown.dataset.field, isEdited: Boolean(next), changed: isOther && line.dataset.field });
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
    const isQuote = inText && inText.dataset.place === line.dataset.field;
    const quote = inText && !isQuote && inputs.text();
    if (quote) quote.value = inText.textContent;
    const told = document.createElement('p');
    told.setAttribute('role', 'alert');
    const isLine = line.matches('tr');
    box.append(labelled(isQuote ? 'New quote' : 'New value', value));
    if (quote) box.append(labelled('Quote', quote));
    const takeQuote = found => {
      (quote || value).value = found.text;
      editor.taken = found;
    };
    const takeValue = found => { value.value = found.text; };
    box.append(button('Save', () => save(line)));
    if (inText) box.append(taking('Take the selected text as quote', takeQuote));
    if (!isQuote) box.append(taking('Take the selected text as value', takeValue));
    box.append(button('Cancel', close), told);
    const unquoted = line.querySelector('.unquoted');
    if (unquoted && quote) told.textContent = `${unquoted.textContent}, or cancel.`;
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
    (unquoted && quote || value).focus();
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
  // A record is added by an input for each of its fields.
  const jsonOf = (line, text) => {
    const kind = line.dataset.input;
    const isRaw = kind === 'flag' || kind === 'number' || kind === 'json';
    if (text === '' && (isRaw || 'optional' in line.dataset)) return 'null';
    if (!isRaw) return JSON.stringify(text);
    try {
      JSON.parse(text);
      return text;
    } catch {
      return JSON.stringify(text);
    }
  };
  // Numbers keep their digits: the text of the record is made of the texts of its fields.
  const written = tree => typeof tree === 'string' ? tree
    : `{${Object.entries(tree).map(([key, value]) => `${JSON.stringify(key)}:${written(value)}`).join(',')}}`;
  for (const details of all('.add')) {
    const form = details.querySelector('form'), list = form.querySelector('ul'), whole = form.elements.value;
    const lines = all('li', list);
    if (!lines.length) continue;
    let last = null;
    for (const line of lines) {
      const input = (inputs[line.dataset.input] || inputs.text)(line);
      input.value = line.textContent;
      input.addEventListener('focus', () => { last = line; });
      line.replaceChildren(labelled(line.dataset.field, input));
    }
    const inputOf = line => line.querySelector('input, select, textarea');
    const told = document.createElement('p');
    told.setAttribute('role', 'alert');
    list.hidden = false;
    whole.closest('label').hidden = true;
    form.append(taking('Take the selected text', found => {
      if (!last) return;
      inputOf(last).value = found.text;
      // Where the quote stands is taken with it: of a document without pages the line.
      for (const unit of lines.filter(line => line.dataset.unitOf === last.dataset.field)) {
        inputOf(unit).value = found.unit && found.isPaged === (unit.dataset.unit === 'page') ? found.unit : '';
      }
    }), told);
    form.addEventListener('submit', async event => {
      event.preventDefault();
      if (form.dataset.sent) return;
      const tree = {};
      for (const line of lines) {
        const keys = line.dataset.field.split('.');
        const object = keys.slice(0, -1).reduce((of, key) => of[key] = of[key] || {}, tree);
        object[keys.at(-1)] = jsonOf(line, inputOf(line).value);
      }
      told.textContent = await post(form, form.elements.place.value, written(tree), 0) || '';
      if (told.textContent) delete form.dataset.sent;
      else reload(details.dataset.recordId);
    });
  }

  const kept = JSON.parse(sessionStorage.getItem(KEPT) || 'null');
  sessionStorage.removeItem(KEPT);
  const record = kept && document.getElementById(kept.record);
  const lineOf = field => record && all('.line', record).find(one => one.dataset.field === field);
  // Whose quote does not have the new value is asked for another one.
  const unquoted = kept && kept.changed && lineOf(kept.changed);
  const line = unquoted && unquoted.querySelector('.unquoted') ? unquoted : kept && lineOf(kept.field);
  if (line) {
    line.dispatchEvent(new CustomEvent('overnight-show', { bubbles: true }));
    if (kept.isEdited || line === unquoted && line.querySelector('.unquoted')) edit(line);
  }
})();
