import type { Command } from 'commander'
import { operatorText, type Tell } from '../../../operations/notices.ts'
import { onServers } from '../../../process/config/settings.ts'
import { tellOutages } from '../../../process/servers/outages.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT } from '../../exit.ts'
import { identified, SERVICE_PATIENCE_MS, untilTold } from '../../follow/until-stopped.ts'
import type { Kit } from '../kit.ts'

/** Drives runs together with other workers until a signal ends it. */
async function worker(ctx: Context): Promise<number> {
  const { config, io } = ctx
  if (!onServers(config))
    throw new CliError(
      'workers share a log on servers: set KEEPUP_EVENTSTORE and KEEPUP_POSTGRES; with an embedded log "serve" drives',
      EXIT.usage,
    )
  const log = await ctx.serviceLog()
  const tell: Tell = (text) => log.info(text)
  const services = await io.open(
    config,
    'owner',
    { autoDrive: false },
    { tell: log.warn, patienceMs: SERVICE_PATIENCE_MS },
  )
  const { work } = await import('../../../process/drives/work.ts')
  const { leaseMs, concurrency, namespace } = config
  const onFault = (error: unknown, where: string) => log.error(`${where}: ${operatorText(error)}`)
  await untilTold(
    ctx,
    log,
    services,
    async (signal) => {
      tell(`working on ${namespace}, ${concurrency} runs at once${identified(services)}; press Ctrl-C to end`)
      const working = work({ services, leaseMs, onFault, onNote: log.warn }, signal)
      await Promise.all([working, tellOutages(services, log.warn, signal)])
    },
    async () => {
      await services.drivers.stop(config.drainMs)
      await services.close()
    },
  )
  return EXIT.done
}

export function workerCommand(program: Command, kit: Kit): void {
  program
    .command('worker')
    .description('on servers: drive runs that were started to be driven, beside other workers')
    .option('--concurrency <n>', 'runs at once (default 32); the others wait for their turn, or another worker')
    .action(kit.action((ctx) => worker(ctx), ['concurrency']))
}
