import type { AllStreamResolvedEvent, StreamingRead } from '@eventstore/db-client'
import { Overdue } from './errors.ts'

/**
 * All events of a read. Rejects with the client's error, with `Overdue` after `ms` of silence, or with the signal's
 * reason. Cancels the call in every case.
 */
export function gather(
  read: StreamingRead<AllStreamResolvedEvent>,
  ms: number,
  signal: AbortSignal,
): Promise<AllStreamResolvedEvent[]> {
  return new Promise((resolve, reject) => {
    const events: AllStreamResolvedEvent[] = []
    let ended = false
    const end = (settle: () => void) => {
      if (ended) return
      ended = true
      clearTimeout(silence)
      signal.removeEventListener('abort', aborted)
      read.pause()
      // Cancel also after the end. If the call never began, `cancel` rejects, and nothing is left to release.
      read.cancel().catch(() => undefined)
      settle()
    }
    const fail = (error: unknown) => end(() => reject(error))
    const aborted = () => fail(signal.reason)
    const silence = setTimeout(() => fail(new Overdue('a read', ms)), ms)
    // Keep the listener: a later error would otherwise be uncaught.
    read.on('error', fail)
    read.on('end', () => end(() => resolve(events)))
    read.on('data', (event: AllStreamResolvedEvent) => {
      if (ended) return
      silence.refresh()
      events.push(event)
    })
    if (signal.aborted) aborted()
    else signal.addEventListener('abort', aborted, { once: true })
  })
}
