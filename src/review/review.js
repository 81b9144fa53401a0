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

  // The source shows the text of the documents, or their pages as pictures.
  const source = byId('source');
  const inPicture = () => source.classList.contains('pictures');
  const svg = name => document.createElementNS('http://www.w3.org/2000/svg', name);
  // A page's picture has its quotes in it; where each stands the server says when it is asked.
  const addBoxes = async image => {
    if (!image.dataset.boxes) return;
    const address = image.dataset.boxes;
    delete image.dataset.boxes;
    const answer = await fetch(address);
    if (!answer.ok) return;
    const sheet = svg('svg');
    sheet.setAttribute('viewBox', '0 0 100 100');
    sheet.setAttribute('preserveAspectRatio', 'none');
    sheet.setAttribute('aria-hidden', 'true');
    for (const place of await answer.json()) {
      const box = svg('rect');
      for (const name of ['x', 'y', 'width', 'height']) box.setAttribute(name, place[name] * 100);
      box.dataset.marks = place.mark;
      sheet.append(box);
      if (!marked.has(`${place.mark}`)) marked.set(`${place.mark}`, []);
      marked.get(`${place.mark}`).push(box);
    }
    image.after(sheet);
  };
  const show = async (marks, target) => {
    all('.now').forEach(element => element.classList.remove('now'));
    const elements = () => marks.flatMap(mark => marked.get(mark) || []);
    const light = () => elements().forEach(element => element.classList.add('now'));
    light();
    const part = (elements()[0] || target)?.closest('.part');
    const image = part?.querySelector('figure img');
    if (inPicture() && image) {
      (elements().find(element => element.matches('rect')) || image).scrollIntoView({ block: 'center' });
      await addBoxes(image);
      light();
      elements().find(element => element.matches('rect'))?.scrollIntoView({ block: 'center' });
      return;
    }
    const text = elements().find(element => !element.matches('rect')) || target;
    text?.scrollIntoView({ block: elements().length ? 'center' : 'start' });
  };
  const targetOf = element => {
    const open = element.querySelector('a.open[href^="#"]');
    return open && byId(decodeURIComponent(open.hash.slice(1)));
  };
  let field = null;
  const selectField = line => {
    field?.classList.remove('here');
    field = line;
    if (!line) return;
    line.classList.add('here');
    line.scrollIntoView({ block: 'nearest' });
    show(marksOf(line), targetOf(line));
  };
  const select = (record, isFocused, isShown = true) => {
    if (current) {
      current.classList.remove('current');
      current.removeAttribute('aria-current');
    }
    selectField(null);
    current = record;
    if (!record) return show([]);
    makeForms(record);
    record.classList.add('current');
    record.setAttribute('aria-current', 'true');
    if (isShown) show(marksOf(record), targetOf(record));
    if (isFocused) record.focus({ preventScroll: true });
    record.scrollIntoView({ block: 'nearest' });
  };
  const linesOf = record => all('.line', record);
  const stepField = by => {
    if (!current) step(1);
    if (!current) return;
    const lines = linesOf(current);
    const next = lines[field ? lines.indexOf(field) + by : by > 0 ? 0 : lines.length - 1];
    if (next) selectField(next);
  };
  const switchButton = byId('switch-view');
  const switchView = () => {
    const isPicture = source.classList.toggle('pictures');
    switchButton.setAttribute('aria-pressed', isPicture);
    if (field) selectField(field);
    else if (current) show(marksOf(current), targetOf(current));
  };
  if (switchButton && source.querySelector('figure img')) {
    document.documentElement.classList.add('scripted');
    switchButton.parentElement.hidden = false;
    switchButton.addEventListener('click', switchView);
  }

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
  // What was in view, and for how long, goes with what is said of the result.
  const live = document.querySelector('.approve-all');
  if (live) {
    const seen = new Set();
    let since = document.hidden ? 0 : performance.now(), visible = 0;
    const watcher = new IntersectionObserver(entries => {
      for (const entry of entries) {
        const half = entry.intersectionRatio >= 0.5 || entry.intersectionRect.height >= innerHeight / 2;
        if (entry.isIntersecting && half) seen.add(entry.target.id);
      }
    }, { threshold: [0, 0.25, 0.5, 0.75, 1] });
    for (const record of records) watcher.observe(record);
    const told = () => {
      const now = performance.now();
      if (since) visible += now - since;
      since = document.hidden ? 0 : now;
      const data = { seen_ms: Math.round(visible), seen: [...seen].join(' ') };
      visible = 0;
      return data;
    };
    const leave = () => {
      const data = new URLSearchParams({ token: live.elements.token.value, ...told() });
      navigator.sendBeacon(live.action.replace(/\/approve(?=\?|$)/, '/seen'), data);
    };
    document.addEventListener('visibilitychange', leave);
    document.addEventListener('submit', event => {
      const form = event.target;
      if (form.method !== 'post') return;
      for (const [name, value] of Object.entries(told())) {
        const input = form.elements[name] || form.appendChild(Object.assign(document.createElement('input'), { type: 'hidden', name }));
        input.value = value;
      }
    }, true);
  }
  // A form is sent once, however often its button is pressed.
  document.addEventListener('submit', event => {
    if (event.target.method !== 'post') return;
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = 'yes';
  });
  addEventListener('pageshow', () => all('form[data-sent]').forEach(form => delete form.dataset.sent));
  // A field that is edited is shown first.
  document.addEventListener('overnight-show', event => {
    const record = event.target.closest('[data-record]');
    if (record !== current) select(record, false, false);
    selectField(event.target);
  });
  const correct = () => {
    if (field) return field.dispatchEvent(new CustomEvent('overnight-edit', { bubbles: true }));
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
    const form = document.querySelector('.approve-all');
    if (!form) return;
    // Who goes through a queue has one key for it; elsewhere the key leads to the button.
    if ('atOnce' in form.dataset) form.requestSubmit();
    else form.querySelector('button').focus();
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
    j: () => step(1), k: () => step(-1), n: () => stepField(1), p: () => stepField(-1), d: onlyDoubtful,
    t: () => switchButton && !switchButton.parentElement.hidden && switchView(), '/': () => text.focus(), '?': showHelp,
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
    const line = event.target.closest('.line');
    const isFree = !event.target.closest('button, input, select, textarea, summary, label');
    if (record && isFree && (line || !event.target.closest('a'))) {
      if (record !== current) select(record, false, !line);
      if (line) selectField(line);
      if (line && event.target.closest('a.open')) event.preventDefault();
    }
    const mark = event.target.closest('#source [data-marks]');
    const owner = mark && records.find(one => marksOf(one).some(number => marksOf(mark).includes(number)));
    if (!owner) return;
    select(owner, false, false);
    selectField(linesOf(owner).find(one => marksOf(one).some(number => marksOf(mark).includes(number))) || null);
  });
  const follow = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    if (!name) return;
    const record = records.find(one => one.id === name || marksOf(one).some(mark => `mark-${mark}` === name));
    if (record) select(record, record.id === name);
  };
  addEventListener('hashchange', follow);
  follow();
})();
