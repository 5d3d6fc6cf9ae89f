/**
 * The body of an answer that breaks off when the request is aborted, as one from a network would; its source is told. The
 * request itself is held here: once it is collected its signal never aborts, even while the signal is held.
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
