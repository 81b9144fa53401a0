'use strict';
(() => {
  const all = (query, of = document) => [...of.querySelectorAll(query)];
  const byId = id => document.getElementById(id);
  const records = all('[data-record]');
  const marksOf = element => (element.dataset.marks || '').split(' ').filter(Boolean);
  // Elements of the source, by the number of their mark.
  const marked = new Map();
  for (const element of all('#source [data-marks]')) {
    for (const mark of marksOf(element)) {
      if (!marked.has(mark)) marked.set(mark, []);
      marked.get(mark).push(element);
    }
  }
  let current = null;

  // The forms of a record are made when it comes into sight: thousands of them would keep a page from opening.
  const makeForms = record => {
    const forms = record.querySelector('.acts > noscript');
    if (forms) forms.parentElement.innerHTML = forms.textContent;
  };
  const sight = new IntersectionObserver(seen => seen.filter(one => one.isIntersecting).forEach(one => makeForms(one.target)));
  if (document.querySelector('.acts')) records.forEach(record => sight.observe(record));

  const isBeside = () => matchMedia('(min-width: 60rem)').matches;
  const select = (record, isFocused, isRead) => {
    if (current) {
      current.classList.remove('current');
      current.removeAttribute('aria-current');
    }
    all('.now').forEach(element => element.classList.remove('now'));
    current = record;
    if (!record) return;
    makeForms(record);
    record.classList.add('current');
    record.setAttribute('aria-current', 'true');
    const elements = marksOf(record).flatMap(mark => marked.get(mark) || []);
    elements.forEach(element => element.classList.add('now'));
    // Beside the records the source follows; below them it would lead away, and so would the record who reads there.
    const open = record.querySelector('a.open[href^="#"]');
    const target = elements[0] || (open && byId(decodeURIComponent(open.hash.slice(1))));
    if (target && isBeside()) target.scrollIntoView();
    if (isFocused) record.focus({ preventScroll: true });
    if (!isRead || isBeside()) record.scrollIntoView({ block: 'nearest' });
  };

  const shown = () => records.filter(record => !record.hidden);
  const step = by => {
    const list = shown();
    const at = list.indexOf(current);
    const next = at < 0 ? list[by > 0 ? 0 : list.length - 1] : list[at + by];
    if (next) select(next, true);
  };
  const open = () => {
    const link = current && current.querySelector('a.open');
    if (!link) return;
    link.click();
    const target = link.hash && byId(decodeURIComponent(link.hash.slice(1)));
    if (target && !link.pathname.endsWith('/') && link.pathname === location.pathname) target.focus();
  };
  const back = () => {
    current.focus({ preventScroll: true });
    current.scrollIntoView({ block: 'nearest' });
  };

  // Filters.
  const text = byId('filter-text'), doubt = byId('filter-doubt'), ofDocument = byId('filter-document'), job = byId('filter-job');
  const fill = (list, name) => {
    const values = [...new Set(records.map(record => record.dataset[name] || ''))].filter(Boolean).sort();
    for (const value of values) list.append(new Option(value, value));
    list.parentElement.hidden = values.length < 2;
  };
  const lower = new WeakMap();
  const textOf = record => {
    if (!lower.has(record)) {
      const told = [...record.children].filter(element => !element.matches('.acts')).map(element => element.textContent);
      lower.set(record, told.join(' ').toLowerCase());
    }
    return lower.get(record);
  };
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const record of records) {
      const doubts = record.dataset.doubts.split(' ').filter(Boolean);
      const fits = (!doubt.value || (doubt.value === 'any' ? record.classList.contains('doubtful') : doubts.includes(doubt.value)))
        && (!ofDocument.value || record.dataset.document === ofDocument.value)
        && (!job.value || record.dataset.job === job.value)
        && (!wanted || textOf(record).includes(wanted));
      record.hidden = !fits;
      count += fits ? 1 : 0;
    }
    byId('shown').textContent = count === records.length ? '' : `${count} of ${records.length} records are shown`;
    if (current && current.hidden) select(null);
  };
  fill(ofDocument, 'document');
  fill(job, 'job');
  for (const input of [text, doubt, ofDocument, job]) input.addEventListener('input', filter);
  byId('filters').hidden = records.length === 0;

  // Corrections begin with the value as it is.
  const showValue = form => {
    const place = form.elements.place.value;
    const field = all('[data-place]', form.closest('[data-record]')).filter(element => element.dataset.place === place).pop();
    form.elements.value.value = field ? field.textContent : '';
  };
  document.addEventListener('change', event => {
    if (event.target.matches('.correct select')) showValue(event.target.form);
  });
  document.addEventListener('toggle', event => {
    const form = event.target.matches('.correct') && event.target.querySelector('form');
    if (form && !form.elements.value.value) showValue(form);
  }, true);
  // A form is sent once, however often its button is pressed.
  document.addEventListener('submit', event => {
    if (event.target.method !== 'post') return;
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = 'yes';
  });
  addEventListener('pageshow', () => all('form[data-sent]').forEach(form => delete form.dataset.sent));
  const correct = () => {
    const details = current && current.querySelector('.correct');
    if (!details) return;
    details.open = true;
    details.querySelector('select').focus();
  };
  const approve = () => {
    const form = current && current.querySelector('form.approve');
    if (form) form.requestSubmit();
  };
  const approveAll = () => {
    const button = document.querySelector('.approve-all button');
    if (button) button.focus();
  };

  // Keys.
  const help = byId('help');
  const showHelp = () => help.showModal();
  byId('show-keys').addEventListener('click', showHelp);
  const onlyDoubtful = () => {
    doubt.value = doubt.value ? '' : 'any';
    filter();
  };
  const keys = {
    j: () => step(1), k: () => step(-1), d: onlyDoubtful, '/': () => text.focus(), '?': showHelp,
    e: correct, a: approve, A: approveAll,
  };
  document.addEventListener('keydown', event => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    if (target.matches('input, textarea, select')) {
      if (event.key === 'Escape' && target.closest('#filters')) {
        event.preventDefault();
        current ? current.focus() : target.blur();
      }
      return;
    }
    if (event.key === 'Enter' && !target.matches('a[href], button, summary')) {
      current && target.closest('#source') ? back() : open();
      return;
    }
    if (!byId('keys-on').checked || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });

  // A click, or a link from elsewhere.
  document.addEventListener('click', event => {
    const record = event.target.closest('[data-record]');
    if (record && !event.target.closest('a, button, input, select, textarea, summary, label')) select(record, false);
    const mark = event.target.closest('#source [data-marks]');
    const owner = mark && records.find(one => marksOf(one).some(number => marksOf(mark).includes(number)));
    if (owner) select(owner, false);
  });
  const follow = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    const record = records.find(one => one.id === name || marksOf(one).some(mark => `mark-${mark}` === name));
    if (record) select(record, record.id === name, record.id !== name);
  };
  addEventListener('hashchange', follow);
  follow();
})();
