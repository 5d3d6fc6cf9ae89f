import type { Command } from 'commander'
import type { ErasureCode } from '../../../../domain/stream/erasure.ts'
import { take } from '../../../http/answers.ts'
import { agreed } from '../../ask/choose.ts'
import { erasureCode } from '../../ask/erasing.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { allStreams } from '../../follow/pages.ts'
import { bytes } from '../../output/units.ts'
import { concluded, verifyOneStream } from '../../verification.ts'
import type { Kit } from '../kit.ts'
import { flowExport } from '../look/history.ts'

async function list(ctx: Context, prefix = ''): Promise<number> {
  const found: { stream: string; revision: number }[] = []
  for await (const one of allStreams(await ctx.client('read'))) if (one.stream.startsWith(prefix)) found.push(one)
  ctx.list(found, [
    { title: 'STREAM', of: (one) => one.stream, flexible: true },
    { title: 'EVENTS', of: (one) => one.revision + 1, side: 'right' },
  ])
  return EXIT.done
}

async function events(ctx: Context, stream: string): Promise<number> {
  const client = await ctx.client('read')
  for (let from: number | null = 0; from !== null; ) {
    const query = { from: String(from), limit: '500' }
    const page = (await take(client.v1.streams[':stream'].events.$get({ param: { stream }, query }))) as {
      events: { revision: number; timestamp: string; type: string; agentId: string; payload: unknown }[]
      next: number | null
    }
    for (const one of page.events)
      ctx.show(one, () => [
        `@${one.revision} ${one.timestamp} ${one.type} ${one.payload === null ? '(erased)' : JSON.stringify(one.payload)}`,
      ])
    from = page.next
  }
  return EXIT.done
}

interface EraseOptions {
  code: ErasureCode
  reason: string
  dryRun?: boolean
  yes?: boolean
}

async function erase(ctx: Context, stream: string, { code, reason, dryRun, yes }: EraseOptions): Promise<number> {
  const client = await ctx.client('write')
  const ask = (dry: boolean) => {
    const json = { code, reason, by: ctx.by, dryRun: dry }
    return take(client.v1.streams[':stream'].erase.$post({ param: { stream }, header: {}, json }))
  }
  const found = await ask(true)
  const bodies = found.bodies ?? []
  const what = `${bodies.length} bodies of ${stream}, ${bytes(bodies.reduce((sum, { size }) => sum + size, 0))}`
  if (dryRun === true) {
    ctx.show(found, () => [bodies.length === 0 ? 'nothing was left to erase' : `This would empty ${what}`])
    return EXIT.done
  }
  if (bodies.length === 0) {
    // An interrupted erasure may have left files of bodies that are empty in the log.
    const done = await ask(false)
    ctx.show(done, () => ['nothing was left to erase'])
    return EXIT.done
  }
  ctx.note(`This empties for ever: ${what}`)
  if (!(await agreed(ctx, yes, 'Empty them? Nothing brings them back.'))) {
    ctx.note('nothing was erased')
    return EXIT.interrupted
  }
  const done = await ask(false)
  ctx.show(done, () => [`erased; recorded up to revision ${done.revision}`])
  return EXIT.done
}

async function exportTo(ctx: Context, stream: string): Promise<number> {
  const backend = await ctx.backend('read')
  const url = `http://localhost/v1/streams/${encodeURIComponent(stream)}/export`
  return flowExport(ctx, await backend.fetch(new Request(url)))
}

/** Commands for streams of any kind. */
export function streamsCommand(program: Command, kit: Kit): void {
  const streams = program.command('streams').description('the streams of the log, of every kind')
  streams
    .command('list', { isDefault: true })
    .description('the names of the streams')
    .option('--prefix <text>', 'those whose name begins so, such as document-')
    .action(kit.action<{ prefix?: string }>((ctx, _, { prefix }) => list(ctx, prefix)))
  streams
    .command('events')
    .description('the events of a stream')
    .argument('<stream>')
    .action(kit.action((ctx, [stream]) => events(ctx, stream!)))
  streams
    .command('verify')
    .description('check the chain, the bodies, the digests and the rows of a stream')
    .argument('<stream>')
    .action(kit.action(async (ctx, [stream]) => concluded(ctx, await verifyOneStream(ctx, stream!))))
  streams
    .command('erase')
    .description('empty the texts of a stream, for ever')
    .argument('<stream>')
    .requiredOption('--reason <text>', 'required; recorded, and shown wherever the text would be')
    .addOption(erasureCode())
    .option('--dry-run', 'only show what would be emptied')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .action(kit.action<EraseOptions>((ctx, [stream], options) => erase(ctx, stream!, options)))
  streams
    .command('export')
    .description("a stream's sealed events as NDJSON on stdout, to be verified elsewhere")
    .argument('<stream>')
    .action(kit.action((ctx, [stream]) => exportTo(ctx, stream!)))
}
