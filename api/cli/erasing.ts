import type { EventView } from '../http/schemas/events.ts'
import { agreed } from './choose.ts'
import { take } from './client.ts'
import type { Context } from './context.ts'
import { bytes } from './output/units.ts'

const SHOWN = 200

/** What emptying events leaves where it is. `folder`: the data folder's, where it is known. */
export const filesStay = (folder = 'the data folder'): string =>
  `Not erased: the workspace itself, the versions of its files, and backups. Versions go all at once: stop keepup, then
delete versions.git in ${folder}; what is restored or forked afterwards has no files.`

/** A body that is to be emptied. `size`: bytes as JSON. */
interface Doomed {
  readonly revision: number
  readonly type: string
  readonly turn: number
  readonly size: number
}

export interface ErasingOptions {
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** The bodies of an agent's events that are asked for and still there. */
async function doomed(
  ctx: Context,
  runId: string,
  agent: string,
  wanted: (e: EventView) => boolean,
): Promise<Doomed[]> {
  const client = await ctx.client('write')
  const found: Doomed[] = []
  let after: string | null = null
  do {
    const query = { limit: '500', agent, ...(after === null ? {} : { after }) }
    const page = (await take(client.v1.runs[':id'].events.$get({ param: { id: runId }, query }))) as {
      events: EventView[]
      next: string | null
    }
    for (const event of page.events) {
      if (event.erased || event.payload === null || !wanted(event)) continue
      const size = Buffer.byteLength(JSON.stringify(event.payload))
      found.push({ revision: event.revision, type: event.type, turn: event.turn, size })
    }
    after = page.next
  } while (after !== null)
  return found
}

/** Shows what would be emptied and, unless that is all that was asked for, asks. True: go on. */
export async function mayErase(
  ctx: Context,
  runId: string,
  agent: string,
  wanted: (e: EventView) => boolean,
  { dryRun, yes }: ErasingOptions,
): Promise<boolean> {
  const bodies = await doomed(ctx, runId, agent, wanted)
  const lines = [
    `${bodies.length} ${bodies.length === 1 ? 'body' : 'bodies'} of ${agent}, ${bytes(bodies.reduce((sum, b) => sum + b.size, 0))}:`,
    ...bodies.slice(0, SHOWN).map((b) => `  @${b.revision} turn ${b.turn} ${b.type}, ${bytes(b.size)}`),
    ...(bodies.length > SHOWN ? [`  … and ${bodies.length - SHOWN} more`] : []),
  ]
  if (dryRun) {
    ctx.show({ agentId: agent, bodies }, () => ['This would empty', ...lines])
    ctx.note(filesStay(ctx.config.data))
    return false
  }
  ctx.note('This empties for ever:')
  for (const line of lines) ctx.note(line)
  ctx.note(filesStay(ctx.config.data))
  if (await agreed(ctx, yes, 'Empty them? Nothing brings them back.')) return true
  ctx.note('nothing was erased')
  return false
}
