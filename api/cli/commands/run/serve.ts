import type { Command } from 'commander'
import { LogError } from '../../../../domain/log/errors.ts'
import { tokenPath } from '../../../http/token.ts'
import { operatorText, type Tell } from '../../../operations/notices.ts'
import { DEFAULT_PORT, onServers } from '../../../process/config/settings.ts'
import { retryFaultedRuns } from '../../../process/drives/retry-faulted-runs.ts'
import { sweep } from '../../../process/drives/sweeper.ts'
import { tellOutages } from '../../../process/servers/outages.ts'
import { requestLog } from '../../../process/service-log/request-log.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT } from '../../exit.ts'
import { identified, SERVICE_PATIENCE_MS, untilTold } from '../../follow/until-stopped.ts'
import { quoted } from '../../output/text.ts'
import type { Kit } from '../kit.ts'
import { openPage } from '../look/open.ts'

interface ServeOptions {
  open?: boolean
}

/**
 * Owns the data folder, drives due runs and serves the API until a signal ends it. On servers, workers drive the runs.
 */
async function serve(ctx: Context, { open = false }: ServeOptions): Promise<number> {
  const { config, io } = ctx
  const log = await ctx.serviceLog()
  const onFault = (error: unknown, where = 'looking for what is due') => log.error(`${where}: ${operatorText(error)}`)
  const tell: Tell = (text) => log.info(text)
  const services = await io
    .open(config, 'owner', { autoDrive: true }, { tell: log.warn, patienceMs: SERVICE_PATIENCE_MS })
    .catch((error: unknown) => {
      if (!(error instanceof LogError && error.code === 'LOG_LOCKED')) throw error
      throw new CliError(`another process owns ${config.data}; end it first, or serve another folder with --data`)
    })
  const { localBackend } = await import('../../../process/owner/local.ts')
  const backend = await localBackend(services, { config, env: io.env, tcp: true, ...requestLog(log) })
  await untilTold(
    ctx,
    log,
    services,
    async (signal) => {
      tell(`serving ${onServers(config) ? config.namespace : config.data} on ${backend.url}${identified(services)}`)
      tell(`ask it: curl -H "Authorization: Bearer $(cat ${quoted(tokenPath(config.data))})" ${backend.url}/v1/runs`)
      tell('what it can be asked: /v1/openapi.json; press Ctrl-C to end')
      if (open) await openPage(ctx, ctx.clientOver(backend))
      else tell(`look at it in a browser: ${ctx.command('open')}`)
      const telling = tellOutages(services, log.warn, signal)
      if (!onServers(config)) return Promise.all([sweep(services, signal, onFault, log.warn), telling])
      const again = retryFaultedRuns({ services, leaseMs: config.leaseMs, onFault, onNote: log.warn }, signal)
      return Promise.all([again, telling])
    },
    () => backend.close(),
  )
  return EXIT.done
}

export function serveCommand(program: Command, kit: Kit): void {
  program
    .command('serve')
    .description('own the data folder: drive runs as they become due, and serve the HTTP API')
    .option('--host <address>', 'address to listen on (default 127.0.0.1)')
    .option('--port <port>', `port to listen on (default ${DEFAULT_PORT}; 0: any)`)
    .option('--hosts <names>', 'host names that are served beside the loopback ones')
    .option('--open', 'open the page in the browser')
    .action(kit.action<ServeOptions>((ctx, _, options) => serve(ctx, options), ['host', 'port', 'hosts']))
}
