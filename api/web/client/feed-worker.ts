import { FeedHub, type FromHub, type ToHub } from './feed-hub.ts'

// One instance serves all tabs of a browser. Without shared workers each tab has its own instance.

const hub = new FeedHub()

interface Port {
  postMessage(message: FromHub): void
  onmessage: ((message: MessageEvent<ToHub>) => void) | null
}

function serve(port: Port): void {
  const hear = hub.join((message) => port.postMessage(message))
  port.onmessage = ({ data }) => hear(data)
}

if ('onconnect' in globalThis)
  Object.assign(globalThis, { onconnect: ({ ports }: MessageEvent) => ports.forEach(serve) })
else serve(globalThis)
