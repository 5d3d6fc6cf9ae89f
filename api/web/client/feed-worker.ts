import { FeedHub, type ToHub } from './feed-hub.ts'

// One instance serves all tabs of a browser.

const hub = new FeedHub()

interface Shared {
  onconnect: ((event: MessageEvent) => void) | null
}
;(globalThis as unknown as Shared).onconnect = ({ ports: [port] }) => {
  if (port === undefined) return
  const hear = hub.join((message) => port.postMessage(message))
  port.onmessage = ({ data }) => hear(data as ToHub)
}
