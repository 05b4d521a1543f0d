// Questions to the server. An answer is JSON; what cannot be answered comes as an error with a sentence for people.

async function answer(response) {
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Refused before it was understood: what was said has to do.
  }
  if (response.ok && body !== null) return body;
  throw new Error(body?.error ?? (text.slice(0, 300) || `the server answered ${response.status} ${response.statusText}`.trim()));
}

async function ask(url, options) {
  let response;
  try {
    response = await fetch(url, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("the server does not answer; is gowk web still running?");
  }
  return answer(response);
}

export const get = (path, params = {}, signal = undefined) => {
  const query = new URLSearchParams(Object.entries(params).map(([name, value]) => [name, String(value)]));
  return ask(`api/${path}${query.size > 0 ? `?${query}` : ""}`, { signal });
};

export const post = (path, body, signal = undefined) =>
  ask(`api/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal });

export const upload = (file) =>
  ask(`api/filters?${new URLSearchParams({ name: file.name })}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream" },
    body: file,
  });

/** Runs questions one after another: a newer one cancels what is still on its way, and only its answer counts. */
export function latest() {
  let controller = null;
  return async (question) => {
    controller?.abort();
    const mine = new AbortController();
    controller = mine;
    try {
      const value = await question(mine.signal);
      return mine.signal.aborted ? null : { value };
    } catch (error) {
      if (mine.signal.aborted) return null;
      return { error };
    }
  };
}
