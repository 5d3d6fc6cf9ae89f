import type { Command } from 'commander'
import type { EventView } from '../../http/schemas/events.ts'
import { refusal, take } from '../client.ts'
import type { Context } from '../context.ts'
import { EXIT, UsageError } from '../exit.ts'
import { linesOf } from '../lines.ts'
import { cut, oneLine } from '../output/text.ts'
import { bytes, dollars } from '../output/units.ts'
import { choice, type Kit, names, whole } from './kit.ts'

const PAGE = 100
const STATUSES = ['active', 'completed', 'failed', 'recovering'] as const

/** One event on one line, for people. */
function eventText(event: EventView): string {
  const at = `${event.timestamp} ${event.stream}@${event.revision}`
  const payload = event.payload === null ? '(erased)' : cut(oneLine(JSON.stringify(event.payload)), 120)
  return `${at} ${event.agentId} ${event.turn} ${event.type} ${payload}`
}

function showEvent(ctx: Context, event: EventView): void {
  ctx.data(ctx.format === 'table' ? `${oneLine(eventText(event))}\n` : `${JSON.stringify(event)}\n`)
}

/** Options that name a point of a history, to `query`. */
export function pointOf(o: { to?: number; turn?: number; event?: number }): {
  step?: string
  turn?: string
  event?: string
} {
  const given = [o.to, o.turn, o.event].filter((v) => v !== undefined)
  if (given.length > 1) throw new UsageError('give only one of --to, --turn and --event')
  if (o.to !== undefined) return { step: String(o.to) }
  if (o.turn !== undefined) return { turn: String(o.turn) }
  return o.event === undefined ? {} : { event: String(o.event) }
}

/** Commands that only read. */
export function lookCommands(program: Command, kit: Kit): void {
  const runs = program.command('runs').description('list and show runs')
  runs
    .command('list', { isDefault: true })
    .description('runs, newest first')
    .option('--status <status>', STATUSES.join(', '), choice('--status', STATUSES))
    .option('--limit <n>', 'how many', whole('--limit', 1), PAGE)
    .action(
      kit.action(async (ctx, _, { status, limit }: { status?: (typeof STATUSES)[number]; limit: number }) => {
        const client = await ctx.client('read')
        const rows = []
        let after: string | null = null
        while (rows.length < limit) {
          const left = Math.min(500, limit - rows.length)
          const query = { limit: String(left), ...(after === null ? {} : { after }), ...(status ? { status } : {}) }
          const page: { runs: RunRow[]; next: string | null } = await take(client.v1.runs.$get({ query }))
          rows.push(...page.runs)
          after = page.next
          if (after === null) break
        }
        ctx.list<RunRow>(rows, RUN_COLUMNS)
        return EXIT.done
      }),
    )
  runs
    .command('show')
    .description('a run, its agents, what it used')
    .argument('<run>')
    .action(
      kit.action(async (ctx, [run]) => {
        const id = await ctx.runId(run!, 'read')
        const detail = await take((await ctx.client('read')).v1.runs[':id'].$get({ param: { id } }))
        ctx.show(detail, () => Object.entries(detail.run).map(([k, v]) => `${k.padEnd(12)} ${lineOf(v)}`))
        return EXIT.done
      }),
    )

  program
    .command('approvals')
    .description('calls that wait for a person')
    .action(
      kit.action(async (ctx) => {
        const { approvals } = await take((await ctx.client('read')).v1.approvals.$get({ query: {} }))
        ctx.list(approvals, [
          { title: 'CALL', of: (a) => a.toolCallId },
          { title: 'TOOL', of: (a) => a.toolName },
          { title: 'EXPIRES', of: (a) => a.expiresAt },
          { title: 'ARGUMENTS', of: (a) => JSON.stringify(a.arguments), flexible: true },
        ])
        return EXIT.done
      }),
    )

  program
    .command('events')
    .description("a run's events, in the order of the log")
    .argument('<run>')
    .option('--agent <id>', 'of this agent (default: all agents of the run)')
    .action(
      kit.action(async (ctx, [run], { agent }) => {
        const id = await ctx.runId(run!, 'read')
        const client = await ctx.client('read')
        const all: EventView[] = []
        let after: string | null = null
        do {
          const query = { limit: '500', ...(after === null ? {} : { after }), ...(agent ? { agent } : {}) }
          const answer = client.v1.runs[':id'].events.$get({ param: { id }, query })
          const page = (await take(answer)) as { events: EventView[]; next: string | null }
          if (ctx.format === 'json') all.push(...page.events)
          else for (const event of page.events) showEvent(ctx, event)
          after = page.next
        } while (after !== null)
        if (ctx.format === 'json') ctx.data(`${JSON.stringify(all, null, 2)}\n`)
        return EXIT.done
      }),
    )

  program
    .command('tail')
    .description('events as they come, until interrupted')
    .option('--run <run>', 'of this run only')
    .option('--type <types>', 'of these types only', names)
    .option('--after <cursor>', 'from here on (default: from now on)')
    .option('--all', 'from the first event on')
    .option('--no-follow', 'end at the head of now')
    .action(
      kit.action(
        async (ctx, _, o: { run?: string; type?: string[]; after?: string; all?: boolean; follow?: boolean }) => {
          const query = new URLSearchParams({ from: o.all || o.follow === false ? 'start' : 'head' })
          if (o.run) query.set('run', await ctx.runId(o.run, 'read'))
          if (o.type) query.set('type', o.type.join(','))
          if (o.after) query.set('after', o.after)
          if (o.follow === false) query.set('follow', 'false')
          const headers = { accept: 'application/x-ndjson' }
          const backend = await ctx.backend('read')
          const response = await backend.fetch(new Request(`http://localhost/v1/events?${query}`, { headers }))
          if (!response.ok || !response.body) throw await refusal(response)
          for await (const line of linesOf(response.body))
            if (line !== '') showEvent(ctx, JSON.parse(line) as EventView)
          return EXIT.done
        },
      ),
    )

  program
    .command('replay')
    .description('the state at a point, folded from the log; nothing is performed')
    .argument('<run>')
    .option('--to <step>', 'after this step (0: as it was started)', whole('--to'))
    .option('--turn <n>', 'at the end of this turn', whole('--turn'))
    .option('--event <revision>', 'after this event', whole('--event'))
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(
      kit.action(async (ctx, [run], o: { to?: number; turn?: number; event?: number; agent?: string }) => {
        const query = { ...pointOf(o), ...(o.agent ? { agent: o.agent } : {}) }
        const id = await ctx.runId(run!, 'read')
        const at = await take((await ctx.client('read')).v1.runs[':id'].state.$get({ param: { id }, query }))
        ctx.show(at, () => [
          `${at.agentId} at revision ${at.revision} (${at.timestamp})`,
          ...JSON.stringify(at.state, null, 2).split('\n'),
          ...at.messages.map((m) => cut(oneLine(JSON.stringify(m)), 200)),
        ])
        return EXIT.done
      }),
    )

  program
    .command('diff')
    .description('what differs between two steps, of one run or of two (<run>:<step>)')
    .argument('<run>')
    .argument('<a>', 'a step, or <agent>:<step>')
    .argument('<b>')
    .action(
      kit.action(async (ctx, [run, a, b]) => {
        const id = await ctx.runId(run!, 'read')
        const full = async (text: string) => {
          const [agent, step] = text.includes(':')
            ? [text.slice(0, text.lastIndexOf(':')), text.split(':').at(-1)!]
            : [id, text]
          return `${agent === id ? id : await ctx.runId(agent, 'read')}:${step}`
        }
        const query = { a: await full(a!), b: await full(b!) }
        const found = await take((await ctx.client('read')).v1.runs[':id'].diff.$get({ param: { id }, query }))
        ctx.show(found, () => [
          ...found.state.map((d) => `${d.path}: ${oneLine(lineOf(d.a))} → ${oneLine(lineOf(d.b))}`),
          `${found.messages.common} messages in common`,
          ...found.messages.onlyA.map((m) => `- ${cut(oneLine(JSON.stringify(m)), 200)}`),
          ...found.messages.onlyB.map((m) => `+ ${cut(oneLine(JSON.stringify(m)), 200)}`),
          ...(found.files ? [...found.files.changes.map((c) => `${c.change} ${c.path}`), found.files.patch] : []),
        ])
        return EXIT.done
      }),
    )

  program
    .command('export')
    .description("a run's sealed events as NDJSON on stdout, to be verified elsewhere")
    .argument('<run>')
    .action(
      kit.action(async (ctx, [run]) => {
        const id = await ctx.runId(run!, 'read')
        const backend = await ctx.backend('read')
        const response = await backend.fetch(new Request(`http://localhost/v1/runs/${id}/export`))
        if (!response.ok || !response.body) throw await refusal(response)
        for await (const line of linesOf(response.body)) ctx.data(`${line}\n`)
        return EXIT.done
      }),
    )
}

const lineOf = (v: unknown): string => (typeof v === 'string' ? v : v === undefined ? '(absent)' : JSON.stringify(v))

type RunRow = {
  runId: string
  status: string
  waiting: { for: string } | null
  role: string | null
  turn: number
  total: { nanoDollars: number | null }
  bytes: number | null
  updatedAt: string
  task: string | null
}

const RUN_COLUMNS = [
  { title: 'RUN', of: (r: RunRow) => r.runId },
  { title: 'STATUS', of: (r: RunRow) => (r.waiting ? `${r.status}, waits: ${r.waiting.for}` : r.status) },
  { title: 'ROLE', of: (r: RunRow) => r.role },
  { title: 'TURN', of: (r: RunRow) => r.turn, side: 'right' as const },
  { title: 'COST', of: (r: RunRow) => dollars(r.total.nanoDollars), side: 'right' as const },
  { title: 'DISK', of: (r: RunRow) => bytes(r.bytes), side: 'right' as const },
  { title: 'UPDATED', of: (r: RunRow) => r.updatedAt },
  { title: 'TASK', of: (r: RunRow) => r.task, flexible: true },
]
