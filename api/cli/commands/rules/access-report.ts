import type { Command } from 'commander'
import type { z } from 'zod'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import type { AccessReport, LogReport, RunReport } from '../../../operations/access/report/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import type { Kit } from '../kit.ts'

interface ReportOptions {
  readonly since?: string
  readonly until?: string
}

/** A heading with its lines, indented; nothing without lines. */
const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${line}`)]

const words = (...parts: readonly (string | null | undefined | false)[]): string => parts.filter(Boolean).join(' ')

const span = ({ first, last }: { readonly first: string; readonly last: string }): string =>
  first === last ? first : `${first} to ${last}`

type Uses = RunReport['reads']

const usesOf = (uses: Uses): readonly string[] =>
  uses.map(({ principal, key, operation, run, reason, address, count, ...at }) =>
    words(principal ?? key, `${count} ×`, operation, reason, run, address && `from ${address}`, span(at)),
  )

type Holds = LogReport['holds']

const holdsOf = (holds: Holds): readonly string[] =>
  holds.map(({ hold, of, by, at, reason, lifted }) =>
    words(`${hold}: ${of}, ${at} by ${by}: ${reason}`, lifted && `(lifted ${lifted.at} by ${lifted.by})`),
  )

function decisionLines(decision: RunReport['decisions'][number]): readonly string[] {
  const { toolCallId, toolName, state, rule, decidedAt, by, claimed, reason, could, needed, supporters } = decision
  const who = by === null ? '' : `by ${by}${claimed ? ' (a claim)' : ''}`
  const able = could?.filter(({ excluded }) => !excluded).map(({ principal }) => principal)
  const barred = could?.filter(({ excluded }) => excluded).map(({ principal }) => principal) ?? []
  return [
    words(`${toolCallId} ${toolName ?? ''}: ${state}`, who, decidedAt, reason && `(${reason})`, rule && `rule ${rule}`),
    ...(needed === 1
      ? []
      : [
          `  needed ${needed} approvals; before the last one: ${supporters.map(({ by, at }) => `${by} ${at}`).join(', ') || 'none'}`,
        ]),
    ...(state === 'not asked' ? [] : [`  could decide: ${able?.join(', ') ?? 'everybody, because access was off'}`]),
    ...(barred.length === 0 ? [] : [`  could not, because they had asked for the run: ${barred.join(', ')}`]),
  ]
}

const runLines = (report: RunReport): readonly string[] => [
  `run ${report.run}`,
  ...section(
    'took part',
    report.participants.map(({ by, how, run, count, ...at }) =>
      words(by, how, count > 1 && `${count} ×`, run !== report.run && `(in ${run})`, span(at)),
    ),
  ),
  ...section(
    'forks',
    report.forks.map(({ run, by, at }) => words(run, `by ${by}`, at)),
  ),
  ...section(
    'approved beforehand',
    report.standing.map(({ tools, by, at }) => words(JSON.stringify(tools), `by ${by}`, at)),
  ),
  ...section('decisions', report.decisions.flatMap(decisionLines)),
  ...section('read by', usesOf(report.reads)),
  ...section('refused', usesOf(report.refused)),
  ...section(
    'erased',
    report.erasures.map(({ stream, at, by, code, reason, bodies }) =>
      words(at, `${bodies} bodies of ${stream} by ${by}: ${code}, ${reason}`),
    ),
  ),
  ...section('held by', holdsOf(report.holds)),
  words(
    'retention:',
    report.retention.days === null ? 'never erased by policy' : `${report.retention.days} days`,
    report.retention.erasedFrom && `from ${report.retention.erasedFrom} on`,
  ),
]

const logLines = (report: LogReport): readonly string[] => [
  report.access.on ? `access is on, separation of duties ${report.access.separation ? 'on' : 'off'}` : 'access is off',
  ...section(
    'principals',
    report.principals.map(({ id, kind, name, roles, linked, removed }) =>
      words(
        `${id} (${kind}, ${name}):`,
        removed ? 'removed' : roles.join(' ') || 'no role',
        linked.length > 0 && `(the same person as ${linked.join(', ')})`,
      ),
    ),
  ),
  ...section(
    'keys',
    report.keys.map(({ id, principal, state, expiresAt, lastUse }) =>
      words(`${id} of ${principal}: ${state},`, expiresAt && `until ${expiresAt},`, `last use ${lastUse ?? 'never'}`),
    ),
  ),
  ...section(
    'changes',
    report.changes.map(({ at, by, type, change }) => words(at, by, type, JSON.stringify(change))),
  ),
  ...section('failed logins', usesOf(report.failed)),
  ...section('refused', usesOf(report.refused)),
  ...section(
    'texts are kept since',
    report.keptSince.map(({ kind, stream, revision, at }) => `${kind}: ${at} (${stream}@${revision})`),
  ),
  ...section('holds', holdsOf(report.holds)),
  ...section(
    'retention',
    report.retention.map(({ of, days }) => `${of}: ${days === null ? 'never' : counted(days, 'day')}`),
  ),
]

const linesOf = ({ run, log }: z.output<typeof AccessReport>): readonly string[] => [
  ...(run === null ? [] : runLines(run)),
  ...(log === null ? [] : logLines(log)),
]

async function report(ctx: Context, target: string | undefined, { since, until }: ReportOptions): Promise<number> {
  const query = {
    ...(target !== undefined && (await targetOf(ctx, target))),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  }
  const found = await take((await ctx.client('read')).v1.access.report.$get({ query }))
  ctx.show(found, () => linesOf(found))
  return EXIT.done
}

const targetOf = async (ctx: Context, target: string) =>
  /\.c\d+$/.test(target) ? { call: target } : { run: await ctx.runId(target, 'read') }

/** The command `access report`. */
export function reportCommand(access: Command, kit: Kit): void {
  access
    .command('report')
    .description('who could and did approve, read, ask for and erase a run; without one: rights, keys and changes')
    .argument('[target]', 'a run or a call')
    .option('--since <time>', 'changes and uses then or later: 2026-11-23, or 30m, 12h, 2d, 1w ago')
    .option('--until <time>', 'changes and uses before then')
    .action(kit.action<ReportOptions>((ctx, [target], options) => report(ctx, target, options)))
}
