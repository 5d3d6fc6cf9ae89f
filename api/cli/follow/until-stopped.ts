import { hostname } from 'node:os'
import type { Services } from '../../operations/services.ts'
import type { ServiceLog } from '../../process/service-log/service-log.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit.ts'
import { hardExit } from '../hard-exit.ts'

/** The time for which a service waits at its start for a restarting server, in ms. */
export const SERVICE_PATIENCE_MS = 5 * 60_000

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/**
 * Runs `act` until a signal ends this process, then lets current work finish. From the signal on, the process ends
 * after `drainMs` even if the work hangs.
 */
export async function untilTold(
  ctx: Context,
  log: ServiceLog,
  { drivers }: Pick<Services, 'drivers'>,
  act: (signal: AbortSignal) => Promise<unknown>,
  close: () => Promise<void>,
): Promise<void> {
  const over = new AbortController()
  let callOff = () => {}
  const end = () => {
    // From here on, signals have their default effect.
    for (const signal of ENDING) process.off(signal, end)
    callOff = hardExit(ctx.config.drainMs, EXIT.failed, (text) => log.info(text))
    over.abort()
  }
  for (const signal of ENDING) process.on(signal, end)
  try {
    await act(over.signal)
  } finally {
    if (!over.signal.aborted) end()
    log.info(drivers.count > 0 ? 'ending as soon as what is at work has ended; again to break it off' : 'ending')
    await close()
    callOff()
    log.info('ended')
  }
}

/** The name of this process as a driver, to append to a sentence. The ids of its drivers begin with this name. */
export const identified = ({ holder }: Pick<Services, 'holder'>): string =>
  holder === null ? '' : `, as driver ${holder}, process ${process.pid} on ${hostname()}`
