import type { Right } from '../../../domain/access/rights.ts'
import type { Services } from '../services.ts'
import { checkAgents } from './agents.ts'
import { checkBackup } from './backup.ts'
import { checkConsumers } from './consumers.ts'
import { bad, type Finding, ok, unmade } from './finding.ts'
import { checkHeads } from './heads.ts'
import { checkLog } from './log.ts'
import { checkModels } from './models.ts'
import { checkRetention } from './retention.ts'
import { checkRows } from './rows.ts'
import { checkTables } from './tables.ts'
import { checkTelemetry } from './telemetry.ts'
import { checkWebhooks } from './webhooks.ts'
import { checkWork, watchLoop } from './work.ts'

interface Check {
  readonly check: (s: Services) => Promise<Finding[]>
  /** The right to see the findings, besides `system.read`. Absent: `system.read` is enough. */
  readonly right?: Right
}

/** Checks of what this process has opened. The name is that of the finding if a check cannot be made. */
const CHECKS: Readonly<Record<string, Check>> = {
  tables: { check: checkTables },
  webhooks: { check: checkWebhooks },
  telemetry: { check: checkTelemetry },
  consumers: { check: checkConsumers },
  rows: { check: checkRows, right: 'log.verify' },
  'signed heads': { check: checkHeads, right: 'log.verify' },
  retention: { check: checkRetention },
  backup: { check: checkBackup, right: 'access.read' },
  models: { check: checkModels },
  agents: { check: checkAgents },
}

/** The rights on which findings depend, besides `system.read`. */
const MACHINE: Right = 'system.operate'
const SECRETS: Right = 'secrets.read'
export const FINDING_RIGHTS: readonly Right[] = ['log.verify', 'access.read', SECRETS, MACHINE]

const SEVERITY = { ok: 0, warning: 1, broken: 2 } as const

const TODO = 'do what the message says'

/**
 * Examines the log, the tables and all other parts of an open process, in the order in which a person would look.
 * `rights`: those of the caller. Null: all.
 */
export async function examine(s: Services, rights: ReadonlySet<Right> | null): Promise<Finding[]> {
  const loop = watchLoop()
  try {
    return [...(await examineParts(s, rights)), loop.finding()]
  } finally {
    loop.end()
  }
}

async function examineParts(s: Services, rights: ReadonlySet<Right> | null): Promise<Finding[]> {
  const { log, tables } = await s.ready()
  const findings = checkWork(s)
  if (log !== null && log.state !== 'shortened') findings.push(bad('broken', 'log', log.why, TODO))
  else findings.push(...(await checkLog(s)))
  if (tables !== null) findings.push(bad(tables.mends ? 'warning' : 'broken', 'tables', tables.why, TODO))
  // Every other check reads the log or the tables.
  const isSilent = tables !== null || findings.some(({ check, state }) => check === 'log' && state === 'broken')
  for (const [name, { check, right }] of isSilent ? [] : Object.entries(CHECKS))
    if (right !== undefined && lacks(rights, right)) findings.push(skipped(name, right))
    else findings.push(...(await check(s).catch((error: unknown) => [unmade(name, error)])))
  return findings
}

/** The findings about the machine that a caller may see. `rights`: those of the caller. Null: all. */
export async function examineMachine(
  s: Pick<Services, 'machine'>,
  rights: ReadonlySet<Right> | null,
): Promise<readonly Finding[]> {
  if (lacks(rights, MACHINE)) return [skipped('machine', MACHINE)]
  const findings = await s.machine()
  if (!lacks(rights, SECRETS)) return findings
  return [...findings.filter(({ check }) => check !== 'secrets'), skipped('secrets', SECRETS)]
}

const lacks = (rights: ReadonlySet<Right> | null, right: Right): boolean => rights !== null && !rights.has(right)

const skipped = (check: string, right: Right): Finding => ok(check, `not checked: the caller lacks the right ${right}`)

/**
 * The findings about the machine, then those about the open parts. A check that was made of the machine is not
 * repeated unless it found more, and rows of damaged tables are left out, because they differ in any case.
 */
export function joined(machine: readonly Finding[], parts: readonly Finding[]): Finding[] {
  const isKnown = (part: Finding): boolean =>
    machine.some(({ check, state }) => check === part.check && SEVERITY[state] >= SEVERITY[part.state])
  const isDamaged = machine.some(({ check, state }) => check === 'tables' && state !== 'ok')
  const ofTables = ['rows', 'signed heads', 'retention']
  return [...machine, ...parts.filter((part) => !isKnown(part) && !(isDamaged && ofTables.includes(part.check)))]
}
