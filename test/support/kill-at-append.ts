import type { EventLog } from '../../domain/ports/index.ts'

/**
 * Kills this process with SIGKILL before or after the nth append to a run of an external agent, from 1. Returns the number of appends
 * so far.
 */
export function killAtAppend(log: EventLog, nth: number, side: string): () => number {
  const append = log.append.bind(log)
  let appends = 0
  log.append = async (...args: Parameters<typeof append>) => {
    const dies = args[0].startsWith('external-') && ++appends === nth
    if (dies && side === 'before') process.kill(process.pid, 'SIGKILL')
    const done = await append(...args)
    if (dies) process.kill(process.pid, 'SIGKILL')
    return done
  }
  return () => appends
}
