/**
 * A response body that fails when the request is aborted, like one from a network, and cancels its source. The closure
 * keeps a reference to the request: after the request is garbage-collected its signal never aborts, even if the signal
 * is still referenced.
 */
export function abortable(body: ReadableStream<Uint8Array>, asked: Request): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let leave = () => {}
  return new ReadableStream(
    {
      start(controller) {
        const abort = () => {
          controller.error(asked.signal.reason)
          reader.cancel(asked.signal.reason).catch(() => {})
        }
        if (asked.signal.aborted) return abort()
        asked.signal.addEventListener('abort', abort, { once: true })
        leave = () => asked.signal.removeEventListener('abort', abort)
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (asked.signal.aborted) return
          if (!done) return controller.enqueue(value)
          leave()
          controller.close()
        } catch (error) {
          leave()
          if (!asked.signal.aborted) controller.error(error)
        }
      },
      cancel(reason) {
        leave()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
