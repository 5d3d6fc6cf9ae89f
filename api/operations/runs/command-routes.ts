import { createRoute, type z } from '@hono/zod-openapi'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { body, json, newApp, RunId, refusals } from '../../http/new-app.ts'
import { CommandHeaders, optionsOf } from '../headers.ts'
import { restoreFiles } from '../history/restore-files.ts'
import { RestoreBody } from '../history/restore-schemas.ts'
import { given } from '../omit-undefined.ts'
import { Recorded } from '../schemas.ts'
import type { Services } from '../services.ts'
import { Restored } from '../system/schemas.ts'
import { agentsOf } from './agents-of.ts'
import { erasableOfRun, eraseRun, factsOfRun } from './erase-run.ts'
import { record } from './record-command.ts'
import { actorOf, type RequestOptions } from './request-options.ts'
import { CancelBody, EraseBody, Erased, InputBody, PauseBody, ResumeBody } from './schemas.ts'

function commandRoute<P extends string, B extends z.ZodType>(path: P, operationId: string, summary: string, schema: B) {
  return createRoute({
    method: 'post',
    path,
    operationId,
    summary,
    request: { params: RunId, headers: CommandHeaders, body: body(schema) },
    responses: { 200: json(Recorded, 'Recorded'), ...refusals },
  })
}

const input = commandRoute('/v1/runs/{id}/input', 'sendInput', 'Say something to a run', InputBody)
const cancel = commandRoute('/v1/runs/{id}/cancel', 'cancelRun', 'End a run', CancelBody)
const pause = commandRoute('/v1/runs/{id}/pause', 'pauseRun', 'Start nothing new; what runs, finishes', PauseBody)
const resume = commandRoute('/v1/runs/{id}/resume', 'resumeRun', 'Lift a pause and go on', ResumeBody)
const step = commandRoute('/v1/runs/{id}/step', 'stepRun', 'Go on to the next end of a turn', ResumeBody)

const erase = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/erase',
  operationId: 'eraseRun',
  summary:
    'Empty bodies of events for ever, or tell which; the proof then says "erased". The workspace, the versions of its ' +
    'files, and backups stay',
  request: { params: RunId, headers: CommandHeaders, body: body(EraseBody) },
  responses: { 200: json(Erased, 'Recorded, or what would be emptied'), ...refusals },
})

const restore = createRoute({
  method: 'post',
  path: '/v1/runs/{id}/restore',
  operationId: 'restoreFiles',
  summary: 'Put the files of a step, or of a kept tree, back; what they replace is kept',
  request: { params: RunId, body: body(RestoreBody) },
  responses: { 200: json(Restored, 'Restored'), ...refusals },
})

export function commandRoutes(s: Services) {
  type Said = { options: RequestOptions; by: string | undefined; drive: 'yes' | 'no' | 'wake' }
  const ask = (agentId: string, command: UserCommand, { options, by, drive }: Said) =>
    record(s, { agentId, command, actor: actorOf('user', by), options, drive })
  const drive = (
    agentId: string,
    kind: 'resume' | 'step',
    { drive, by }: z.output<typeof ResumeBody>,
    headers: CommandHeaders,
  ) => ask(agentId, { kind }, { options: optionsOf(headers), by, drive: drive ? 'yes' : 'wake' })
  return newApp()
    .openapi(input, async (c) => {
      const { agent, by, ...said } = c.req.valid('json')
      const { id } = c.req.valid('param')
      const options = optionsOf(c.req.valid('header'))
      const to = agent === undefined ? id : (await agentsOf(s, id, agent))[0]!
      const done = await ask(to, given({ kind: 'input' as const, ...said }), { options, by, drive: 'wake' })
      return c.json(done, 200, etag(done))
    })
    .openapi(cancel, async (c) => {
      const { reason, deadlineMs, by } = c.req.valid('json')
      const options = optionsOf(c.req.valid('header'))
      const command = given({ kind: 'cancel' as const, deadlineMs: deadlineMs ?? 10_000, reason })
      // Ending a run is itself work for a driver: what is in flight has to be stopped and settled.
      const done = await ask(c.req.valid('param').id, command, { options, by, drive: 'wake' })
      return c.json(done, 200, etag(done))
    })
    .openapi(pause, async (c) => {
      const { reason, by } = c.req.valid('json')
      const options = optionsOf(c.req.valid('header'))
      const command = given({ kind: 'pause' as const, reason })
      const done = await ask(c.req.valid('param').id, command, { options, by, drive: 'no' })
      return c.json(done, 200, etag(done))
    })
    .openapi(resume, async (c) => {
      const done = await drive(c.req.valid('param').id, 'resume', c.req.valid('json'), c.req.valid('header'))
      return c.json(done, 200, etag(done))
    })
    .openapi(step, async (c) => {
      const done = await drive(c.req.valid('param').id, 'step', c.req.valid('json'), c.req.valid('header'))
      return c.json(done, 200, etag(done))
    })
    .openapi(erase, async (c) => {
      const { id } = c.req.valid('param')
      const { agent, by, dryRun, ...what } = c.req.valid('json')
      const asked = { agent, what, by, options: optionsOf(c.req.valid('header')) }
      const done = dryRun ? await erasableOfRun(s, id, asked) : await eraseRun(s, id, asked)
      const facts = await factsOfRun(s, id, asked)
      return c.json({ ...done, dryRun, ...(facts === null ? {} : { facts }) }, 200, etag(done))
    })
    .openapi(restore, async (c) => {
      const { id } = c.req.valid('param')
      const { step, tree, dryRun, expected, by, reason } = c.req.valid('json')
      const to = tree === undefined ? { step: step ?? 0 } : { tree }
      const done = await restoreFiles(s, id, {
        to,
        dryRun,
        by,
        reason,
        ...(expected === undefined ? {} : { expected }),
      })
      return c.json({ runId: id, dryRun, ...done, changes: [...done.changes] }, 200)
    })
}

const etag = (done: Recorded): Record<string, string> => ({ ETag: `"${done.revision}"` })
