import type { z } from 'zod'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { omitUndefined } from '../omit-undefined.ts'
import type { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { agentsOf } from './agents-of.ts'
import { erasableOfRun, eraseRun, factsOfRun } from './erase-run.ts'
import { recordCommand } from './record-command.ts'
import { type Asked, actorOf, type RequestOptions } from './request-options.ts'
import type { CancelBody, EraseBody, InputBody, PauseBody, ResumeBody } from './schemas.ts'

// The commands of people to a run. Each rejects as `recordCommand` does.

/** Gives an input to an agent of a run. */
export async function sendInput(
  s: Services,
  runId: string,
  { agent, by, ...input }: z.output<typeof InputBody>,
  options: RequestOptions,
): Promise<Recorded> {
  const to = agent === undefined ? runId : (await agentsOf(s, runId, agent))[0]!
  return ask(s, to, omitUndefined({ kind: 'input' as const, ...input }), { by, options, drive: 'wake' })
}

/** Ends a run. A driver stops and settles the calls at work. */
export const cancelRun = (
  s: Services,
  runId: string,
  { reason, deadlineMs = 10_000, by }: z.output<typeof CancelBody>,
  options: RequestOptions,
): Promise<Recorded> =>
  ask(s, runId, omitUndefined({ kind: 'cancel' as const, deadlineMs, reason }), { by, options, drive: 'wake' })

export const pauseRun = (
  s: Services,
  runId: string,
  { reason, by }: z.output<typeof PauseBody>,
  options: RequestOptions,
): Promise<Recorded> => ask(s, runId, omitUndefined({ kind: 'pause' as const, reason }), { by, options, drive: 'no' })

/** Lifts a pause; `step`: up to the next end of a turn. */
export const liftPause = (
  s: Services,
  runId: string,
  kind: 'resume' | 'step',
  { drive, by }: z.output<typeof ResumeBody>,
  options: RequestOptions,
): Promise<Recorded> => ask(s, runId, { kind }, { by, options, drive: drive ? 'yes' : 'wake' })

/** Empties bodies of a run for ever. `dryRun`: only lists them. The answer names the facts that the run saved. */
export async function eraseBodies(
  s: Services,
  runId: string,
  { agent, by, dryRun, ...what }: z.output<typeof EraseBody>,
  options: RequestOptions,
) {
  const asked = { agent, what, by, options }
  const done = dryRun ? await erasableOfRun(s, runId, asked) : await eraseRun(s, runId, asked)
  const facts = await factsOfRun(s, runId, asked)
  return { ...done, dryRun, ...(facts === null ? {} : { facts }) }
}

type Said = Pick<Asked, 'options' | 'drive'> & { readonly by: string | undefined }

const ask = (s: Services, agentId: string, command: UserCommand, { by, ...said }: Said): Promise<Recorded> =>
  recordCommand(s, { agentId, command, actor: actorOf('user', by, said.options), ...said })
