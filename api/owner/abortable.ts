/** A body that breaks off when the signal does, as one from a network would; its source is told. */
export function abortable(body: ReadableStream<Uint8Array>, signal: AbortSignal): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let leave = () => {}
  return new ReadableStream(
    {
      start(controller) {
        const abort = () => {
          controller.error(signal.reason)
          reader.cancel(signal.reason).catch(() => {})
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        leave = () => signal.removeEventListener('abort', abort)
      },
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (signal.aborted) return
          if (!done) return controller.enqueue(value)
          leave()
          controller.close()
        } catch (error) {
          leave()
          if (!signal.aborted) controller.error(error)
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
