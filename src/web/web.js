// Loads the changing parts of a page anew when the server tells of a change. Everything works without it.
"use strict";
const main = document.querySelector("main[data-events]");
if (main) {
  const LEAST_PAUSE = 2000;
  const connection = document.getElementById("connection");
  const RETRY = 5000;
  let source = null, isLoading = false, isStale = false;

  const say = (text) => { if (connection.textContent !== text) connection.textContent = text; };

  const replace = (page) => {
    const focused = document.activeElement && document.activeElement.id;
    for (const part of page.querySelectorAll("[data-live]")) {
      const here = document.getElementById(part.id);
      if (!here || here.innerHTML === part.innerHTML) continue;
      const unfolded = new Map([...here.querySelectorAll("details[id]")].map((fold) => [fold.id, fold.open]));
      here.replaceChildren(...part.childNodes);
      for (const fold of here.querySelectorAll("details[id]")) {
        if (unfolded.has(fold.id)) fold.open = unfolded.get(fold.id);
      }
    }
    if (focused && document.activeElement.id !== focused) {
      const again = document.getElementById(focused);
      if (again) again.focus({ preventScroll: true });
    }
  };

  const load = async () => {
    if (isLoading) { isStale = true; return; }
    [isLoading, isStale] = [true, false];
    const begun = performance.now();
    let pause = LEAST_PAUSE;
    try {
      const reply = await fetch(location.href);
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const why = page.querySelector("main > p");
      if (reply.ok) {
        replace(page);
        say("live");
        // A page that takes long is not asked for all the time.
        pause = Math.max(pause, 20 * (performance.now() - begun));
      } else if (reply.status === 401) say("not live: the server was started anew, open the link that it printed");
      else say(`not live: ${why ? why.textContent : reply.statusText}`);
    } catch { say("not live: the server doesn't answer"); }
    setTimeout(() => { isLoading = false; if (isStale) load(); }, pause);
  };

  const listen = () => {
    if (source) return;
    source = new EventSource(main.dataset.events);
    // What has changed before the connection stood was told to nobody.
    source.onopen = load;
    source.onerror = () => {
      load();
      // Who was refused is not connected again by the browser.
      if (source && source.readyState === EventSource.CLOSED) { source = null; setTimeout(follow, RETRY); }
    };
    source.addEventListener("changed", load);
  };

  // A page that nobody sees holds no connection.
  const follow = () => {
    if (!document.hidden) { listen(); } else if (source) { source.close(); source = null; }
  };
  document.addEventListener("visibilitychange", follow);
  if (!document.hidden) listen();
}
