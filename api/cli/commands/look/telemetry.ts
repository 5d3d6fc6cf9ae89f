import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { otlpUrl, postOtlp } from '../../../../adapters/web/otlp.ts'
import { isWebhookUrl } from '../../../../adapters/web/webhook.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import type { Telemetry } from '../../../operations/telemetry/schemas.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import type { Kit } from '../kit.ts'

interface TelemetryOptions {
  to?: string
  content?: boolean
  adopt?: boolean
  header?: string[]
}

/** The command `telemetry`. */
export function telemetryCommand(program: Command, kit: Kit): void {
  program
    .command('telemetry')
    .description('the spans of runs for OpenTelemetry: into a file, or to a collector')
    .argument('<runs...>', 'the runs')
    .requiredOption('--to <target>', 'a new file, or the URL of a collector, such as http://127.0.0.1:4318')
    .option('--content', 'with prompts, answers, arguments and results')
    .option('--header <header...>', 'a header of each request, as name=value')
    .option('--adopt', 'join the traces of the requests that started the runs, instead of links to them')
    .action(
      kit.action<TelemetryOptions>(async (ctx, args, options) => {
        const { to = '', header = [] } = options
        const isUrl = /^https?:\/\//.test(to)
        if (isUrl && !isWebhookUrl(to))
          throw new UsageError(`--to: expected an https URL without a password, or an http URL of this machine`)
        const target = isUrl ? collectorAt(ctx, to, headersOf(header)) : await newFile(ctx, to)
        let spans = 0
        try {
          for (const run of args) {
            const telemetry = await spansOf(ctx, run, options)
            spans += telemetry.resourceSpans.map(spansIn).reduce((sum, count) => sum + count, 0)
            await target.take(telemetry)
          }
        } finally {
          await target.close()
        }
        ctx.show({ to, runs: args.length, spans }, () => [`${to}: ${counted(spans, 'span')}`])
        return EXIT.done
      }),
    )
}

async function spansOf(ctx: Context, run: string, { content, adopt }: TelemetryOptions): Promise<Telemetry> {
  const query = { ...(content && { content: 'true' as const }), ...(adopt && { adopt: 'true' as const }) }
  const id = await ctx.runId(run, 'read')
  return take((await ctx.client('read')).v1.runs[':id'].telemetry.$get({ param: { id }, query }))
}

type Batch = Telemetry['resourceSpans'][number]

const spansIn = ({ scopeSpans }: Batch): number => (scopeSpans as { spans: unknown[] }[])[0]?.spans.length ?? 0

interface Target {
  take(telemetry: Telemetry): Promise<void>
  close(): Promise<void>
}

/** A file with one request per line, as the collector's `otlpjsonfile` receiver reads it. */
async function newFile(ctx: Context, to: string): Promise<Target> {
  const path = resolve(ctx.io.cwd, to)
  const file = await open(path, 'wx', 0o600).catch((error: Error) => {
    throw new CliError(`${path} cannot be written (${error.message}); name a new file in a folder of yours`)
  })
  return {
    take: async (telemetry) => void (await file.write(`${JSON.stringify(telemetry)}\n`)),
    close: () => file.close(),
  }
}

function collectorAt(ctx: Context, to: string, headers: Readonly<Record<string, string>>): Target {
  const url = otlpUrl(to, '/v1/traces')
  return {
    async take({ resourceSpans }) {
      for (const batch of resourceSpans) {
        const body = JSON.stringify({ resourceSpans: [batch] })
        const { fault, rejected } = await postOtlp({ url, headers, body }, new AbortController().signal)
        if (fault !== null)
          throw new CliError(`${new URL(url).origin}: ${fault}; a second export repeats the same spans, so try again`)
        if (rejected !== null) ctx.note(`${new URL(url).origin}: ${rejected}`)
      }
    },
    close: async () => undefined,
  }
}

function headersOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)=(.*)$/.exec(text) ?? []
      if (name === undefined || value === undefined)
        throw new UsageError(`--header: "${text.split('=')[0]}" is no header; write name=value`)
      return [name, value]
    }),
  )
}
