// What the page asks the server. Paths are relative to the page's own, so that a proxy may put the server under any prefix.

const KEY_NAME = 'pointmap-api-key';

/** An answer in the server's words that is not the one asked for; status 0: there was none. */
class ServerError extends Error {
  constructor(status, {code = '', message, field = null, request_id: requestId = ''}) {
    super(message || `the server answered ${status}`);
    Object.assign(this, {status, code, field, requestId});
  }
}

const noAnswer = () => new ServerError(0, {code: 'no_answer', message: 'the server does not answer'});

function errorFrom(status, text) {
  try {
    return new ServerError(status, JSON.parse(text).error);
  } catch {
    return new ServerError(status, {});  // not from us: a proxy's words
  }
}

// In sessionStorage: gone with the tab, never in an address. Browsers may forbid it; then it lasts as long as the page.
const apiKey = {
  get() {
    try {
      this.value ??= sessionStorage.getItem(KEY_NAME) ?? '';
    } catch {
      this.value ??= '';
    }
    return this.value;
  },
  set(key) {
    this.value = key;
    try {
      sessionStorage.setItem(KEY_NAME, key);
    } catch {}
  },
};

const keyHeaders = () => apiKey.get() ? {Authorization: `Bearer ${apiKey.get()}`} : {};

/** The Response of a good answer; throws ServerError for any other, and what fetch throws when options.signal ends it. */
async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, {...options, headers: keyHeaders()});
  } catch (error) {
    throw options.signal?.aborted ? error : noAnswer();
  }
  if (!response.ok) throw errorFrom(response.status, await response.text().catch(() => ''));
  return response;
}

/**
 * The parsed answer to a form. Not with fetch, which does not tell how much is sent. signal ends it while the form is being sent; once all of
 * it is, the answer is waited for, as it names the job that there is now.
 */
function postForm(path, form, {onProgress, signal}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let isSent = false;
    request.open('POST', path);
    for (const [name, value] of Object.entries(keyHeaders())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({loaded, total}) => onProgress(loaded, total));
    request.upload.addEventListener('load', () => { isSent = true; });
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(errorFrom(request.status, request.responseText));
    });
    request.addEventListener('error', () => reject(new ServerError(0, {code: 'no_answer',
      message: 'the photos could not be sent: the server does not answer, or a file can no longer be read'})));
    request.addEventListener('abort', () => reject(signal.reason));
    signal.addEventListener('abort', () => { if (!isSent) request.abort(); });
    request.send(form);
  });
}

/** The data of each server-sent event. Not with EventSource, which cannot send a key. */
async function* serverEvents(path, signal) {
  const response = await ask(path, {signal});
  const reader = response.body.getReader(), decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;  // not before: a stream that is left half read counts as a failed request
    text += decoder.decode(value, {stream: true});
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = text.slice(0, end).split('\n').find((line) => line.startsWith('data: '));
      text = text.slice(end + 2);
      if (data) yield JSON.parse(data.slice(6));
    }
  }
}

/** Ends after ms, or throws when the signal comes first. */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

const ASK_AGAIN_MS = 1000;
const isOver = (job) => ['done', 'failed', 'cancelled'].includes(job.state);
// The job is not there, or we may not see it: no use in asking again.
const isFinal = (error) => error.status >= 400 && error.status < 500;

/** The job when it is over; changed(job) for each state on the way. A connection that is lost is made again: lost() says that it was. */
async function followJob(id, {changed, lost, signal}) {
  for (;;) {
    try {
      let last = null;
      for await (last of serverEvents(`v1/jobs/${id}/events`, signal)) {
        if (!isOver(last)) changed(last);
      }
      if (last && isOver(last)) return last;
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw error;
    }
    // Too many may be watching; how the job goes is told to everybody.
    try {
      const job = await (await ask(`v1/jobs/${id}`, {signal})).json();
      if (isOver(job)) return job;
      changed(job);
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw error;
      lost();
    }
    await pause(ASK_AGAIN_MS, signal);
  }
}
