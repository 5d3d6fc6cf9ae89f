import type { Clock } from '../../../domain/ports.ts'

/** What is answered within so long, ms; `late` where it is not, or where the signal aborts first. Rejects as the answer does. */
export async function within<T, L>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  answer: Promise<T>,
  late: L,
  signal?: AbortSignal,
): Promise<T | L> {
  const over = new AbortController()
  const either = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal])
  const tooLate = () => late
  try {
    return await Promise.race([answer, clock.sleep(ms, either).then(tooLate, tooLate)])
  } finally {
    over.abort(new Error('answered'))
  }
}
