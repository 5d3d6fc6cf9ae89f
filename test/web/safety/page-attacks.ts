/** An attack of a page. It gives the text of an answer that it can read, or how it failed. */
export type Attack = [name: string, attack: (url: string, id: string) => unknown]

export const READS: Attack[] = [
  ['fetch with cookies', (url) => fetch(`${url}/v1/runs`, { credentials: 'include' }).then((a) => a.text())],
  [
    'fetch without CORS',
    (url) => fetch(`${url}/v1/runs`, { mode: 'no-cors', credentials: 'include' }).then((a) => a.text()),
  ],
  [
    'fetch with a header',
    (url) =>
      fetch(`${url}/v1/runs`, { credentials: 'include', headers: { 'keepup-session': 'x' } }).then((a) => a.text()),
  ],
  [
    'fetch of a redirect',
    (url) => fetch(`${url}/v1/runs`, { redirect: 'manual', credentials: 'include' }).then((a) => a.text()),
  ],
  [
    'fetch of an export',
    (url, run) => fetch(`${url}/v1/runs/${run}/export`, { credentials: 'include' }).then((a) => a.text()),
  ],
  [
    'fetch of a result',
    (url, run) => fetch(`${url}/v1/results/${run}.t1.c0`, { credentials: 'include' }).then((a) => a.text()),
  ],
  [
    'XMLHttpRequest',
    (url) =>
      new Promise((resolve) => {
        const request = new XMLHttpRequest()
        request.open('GET', `${url}/v1/runs`)
        request.withCredentials = true
        request.onloadend = () => resolve(request.responseText)
        request.send()
      }),
  ],
  [
    'reading the stream of events',
    (url) =>
      new Promise((resolve) => {
        const source = new EventSource(`${url}/v1/events`, { withCredentials: true })
        source.onmessage = ({ data }) => resolve(data)
        source.onopen = () => resolve('open')
        source.onerror = () => {
          source.close()
          resolve('')
        }
      }),
  ],
  [
    'the stream of a run',
    (url, run) =>
      new Promise((resolve) => {
        const source = new EventSource(`${url}/v1/runs/${run}/live`, { withCredentials: true })
        source.onopen = () => resolve('open')
        source.onerror = () => {
          source.close()
          resolve('')
        }
      }),
  ],
  [
    'an answer as a script',
    (url) =>
      new Promise((resolve) => {
        const script = document.createElement('script')
        script.src = `${url}/v1/openapi.json`
        script.onload = () => resolve('loaded')
        script.onerror = () => resolve('')
        document.body.append(script)
      }),
  ],
  [
    'the page’s own script',
    (url) =>
      new Promise((resolve) => {
        const script = document.createElement('script')
        script.src = `${url}/assets/x.js`
        script.onload = () => resolve('loaded')
        script.onerror = () => resolve('')
        document.body.append(script)
      }),
  ],
  [
    'an answer as an image',
    (url) =>
      new Promise((resolve) => {
        const image = new Image()
        image.onload = () => resolve('loaded')
        image.onerror = () => resolve('')
        image.src = `${url}/icon.svg`
      }),
  ],
  [
    'an answer as a style',
    (url) =>
      new Promise((resolve) => {
        const link = document.createElement('link')
        link.rel = 'stylesheet'
        link.href = `${url}/v1/runs`
        link.onload = () => resolve('loaded')
        link.onerror = () => resolve('')
        document.head.append(link)
      }),
  ],
  [
    'the page in a frame',
    (url) =>
      new Promise((resolve) => {
        const frame = document.createElement('iframe')
        frame.src = `${url}/`
        frame.onload = () => {
          try {
            resolve(frame.contentWindow!.document.body.innerHTML)
          } catch {
            resolve('')
          }
        }
        document.body.append(frame)
      }),
  ],
  [
    'an answer as an object',
    (url) =>
      new Promise((resolve) => {
        const object = document.createElement('object')
        object.data = `${url}/`
        object.onload = () => resolve('loaded')
        object.onerror = () => resolve('')
        document.body.append(object)
      }),
  ],
  ['the cookie', () => document.cookie],
  ['the key in the storage', () => localStorage.getItem('keepup-session') ?? ''],
  [
    'the shared worker of the page',
    (url) => {
      try {
        new SharedWorker(`${url}/assets/feed-worker.js`)
        return 'joined'
      } catch {
        return ''
      }
    },
  ],
]

export const WRITES: Attack[] = [
  [
    'a form that posts',
    (url, run) => {
      document.body.innerHTML = `<iframe name=f></iframe><form target=f method=post action="${url}/v1/runs/${run}/cancel"><input name=a value=b></form>`
      document.querySelector('form')!.submit()
    },
  ],
  [
    'a form of plain text that looks like JSON',
    (url, run) => {
      document.body.innerHTML = `<iframe name=f></iframe><form target=f enctype="text/plain" method=post action="${url}/v1/runs/${run}/cancel"><input name='{"reason":"' value='"}'></form>`
      document.querySelector('form')!.submit()
    },
  ],
  [
    'fetch as plain text',
    (url, run) =>
      fetch(`${url}/v1/runs/${run}/cancel`, {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
        body: '{"reason":"x"}',
      }),
  ],
  [
    'fetch as JSON',
    (url, run) =>
      fetch(`${url}/v1/runs/${run}/cancel`, {
        method: 'POST',
        credentials: 'include',
        headers: { 'content-type': 'application/json' },
        body: '{"reason":"x"}',
      }),
  ],
  [
    'a beacon',
    (url, run) =>
      navigator.sendBeacon(`${url}/v1/runs/${run}/cancel`, new Blob(['{"reason":"x"}'], { type: 'application/json' })),
  ],
  ['a beacon of plain text', (url, run) => navigator.sendBeacon(`${url}/v1/runs/${run}/cancel`, '{}')],
  [
    'a request that outlives the page',
    (url, run) =>
      fetch(`${url}/v1/runs/${run}/cancel`, {
        method: 'POST',
        mode: 'no-cors',
        keepalive: true,
        credentials: 'include',
        body: '{}',
      }),
  ],
  [
    'cookie tossing',
    (url, run) => {
      // biome-ignore lint/suspicious/noDocumentCookie: as such a page does it
      document.cookie = `keepup_${new URL(url).port}=1.x.y; path=/v1`
      return fetch(`${url}/v1/runs/${run}/cancel`, {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
        body: '{}',
      })
    },
  ],
  [
    'a session of its own choice',
    (url) => fetch(`${url}/v1/session`, { method: 'POST', mode: 'no-cors', credentials: 'include' }),
  ],
  ['the end of the session', (url) => fetch(`${url}/v1/session`, { method: 'DELETE', credentials: 'include' })],
  [
    'a new code',
    (url) => fetch(`${url}/v1/session/codes`, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }),
  ],
]
