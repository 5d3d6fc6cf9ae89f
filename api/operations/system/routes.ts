import { createRoute, z } from '@hono/zod-openapi'
import { body, json, newApp, RunId, refusals, written } from '../../http/new-app.ts'
import { streamResponse } from '../../http/stream-response.ts'
import { withinOr } from '../concurrency/within-or.ts'
import { exportRun } from '../events/export.ts'
import { OneAgent } from '../history/routes.ts'
import { notFound } from '../problem.ts'
import { agentsOf } from '../runs/agents-of.ts'
import { mustWrite } from '../runs/record-command.ts'
import { release } from '../runs/release-parked.ts'
import type { Services } from '../services.ts'
import type { Trouble } from './readiness.ts'
import * as schema from './schemas.ts'

const health = createRoute({
  method: 'get',
  path: '/v1/health',
  operationId: 'getHealth',
  summary: 'Whether this process answers; needs no token',
  security: [],
  responses: { 200: json(schema.Health, 'It answers'), ...refusals },
})

const ready = createRoute({
  method: 'get',
  path: '/v1/ready',
  operationId: 'getReadiness',
  summary: 'Whether log and tables answer, within two seconds; needs no token',
  security: [],
  responses: { 200: json(schema.Ready, 'Both answer'), 503: json(schema.Ready, 'One does not'), ...refusals },
})

const projections = createRoute({
  method: 'get',
  path: '/v1/projections',
  operationId: 'getProjections',
  summary: 'What the tables show, and what is parked',
  responses: { 200: json(schema.Projections, 'Projections'), ...refusals },
})

const rebuild = createRoute({
  method: 'post',
  path: '/v1/projections/rebuild',
  operationId: 'rebuildProjections',
  summary: 'Build the tables anew from the log, compare, switch where they are equal or a difference is accepted',
  request: { body: { ...body(schema.RebuildBody), required: false } },
  responses: { 200: json(schema.Rebuilt, 'Rebuilt'), ...refusals },
})

const releasing = createRoute({
  method: 'post',
  path: '/v1/projections/release',
  operationId: 'releaseParkedStreams',
  summary: 'Read parked streams again, once what kept them from being read is mended',
  request: { body: body(schema.ReleaseBody) },
  responses: { 200: json(schema.Released, 'Released'), ...refusals },
})

const exported = createRoute({
  method: 'get',
  path: '/v1/runs/{id}/export',
  operationId: 'exportRun',
  summary: 'The sealed events of a run as NDJSON, to be verified elsewhere',
  request: { params: RunId, query: OneAgent },
  responses: {
    200: { description: 'Sealed events', content: { 'application/x-ndjson': { schema: z.string() } } },
    ...refusals,
  },
})

const backup = createRoute({
  method: 'post',
  path: '/v1/backup',
  operationId: 'backUp',
  summary: 'Write a consistent copy of the data into a new folder of this host',
  request: { body: body(schema.BackupBody) },
  responses: { 200: json(schema.BackedUp, 'Written'), ...refusals },
})

const secretNames = createRoute({
  method: 'get',
  path: '/v1/secrets',
  operationId: 'listSecretNames',
  summary: 'Names of the known secrets, never values',
  responses: { 200: json(schema.SecretNames, 'Names'), ...refusals },
})

const setSecret = createRoute({
  method: 'put',
  path: '/v1/secrets/{name}',
  operationId: 'setSecret',
  summary: 'Keep a secret in the vault',
  request: {
    params: z.object({ name: schema.SecretName }),
    body: body(schema.SecretBody),
  },
  responses: { 200: json(schema.SecretNames, 'Names'), ...refusals },
})

const removeSecret = createRoute({
  method: 'delete',
  path: '/v1/secrets/{name}',
  operationId: 'removeSecret',
  summary: 'Forget a secret: no tool is given it any more; it stays hidden, and old versions of files still hold it',
  request: { params: z.object({ name: schema.SecretName }) },
  responses: { 200: json(schema.SecretNames, 'Names'), ...refusals },
})

/** The answer does not wait longer for the count of parked streams, ms. */
const PARKED_WITHIN_MS = 1_000

export function systemRoutes(s: Services) {
  const status = async () => {
    await s.read.current()
    return s.read.status()
  }
  return newApp()
    .openapi(health, (c) =>
      c.json(
        { ok: true, logId: s.log.logId, driving: s.drivers.count, readOnly: s.readOnly, drivesDue: s.autoDrive },
        200,
      ),
    )
    .openapi(ready, async (c) => {
      const { log, tables } = await s.ready()
      const state = (trouble: Trouble | null): z.infer<typeof schema.Ready>['log'] =>
        trouble === null ? 'answers' : trouble.state === 'silent' ? 'silent' : 'unusable'
      const asked = tables === null ? s.read.parked().then(({ length }) => length) : null
      const parked = asked && (await withinOr(s.clock, PARKED_WITHIN_MS, asked, null).catch(() => null))
      const found = { ready: log === null && tables === null, log: state(log), tables: state(tables), parked }
      return found.ready ? c.json(found, 200) : c.json(found, 503)
    })
    .openapi(projections, async (c) => {
      const { behind } = await s.read.status()
      return c.json({ ...(await status()), behind }, 200)
    })
    .openapi(rebuild, async (c) => {
      mustWrite(s)
      const { accept = false } = c.req.valid('json')
      return c.json(await s.read.rebuild({ accept }), 200)
    })
    .openapi(releasing, async (c) => {
      mustWrite(s)
      const released = await release(s, c.req.valid('json'))
      return c.json({ ...(await status()), released }, 200)
    })
    .openapi(exported, async (c) => {
      const { id } = c.req.valid('param')
      const lines = exportRun(s.log, s.blobs, id, await agentsOf(s, id, c.req.valid('query').agent))
      // The route's types take NDJSON for one JSON value.
      return written(streamResponse(lines, { format: 'ndjson' }))
    })
    .openapi(backup, async (c) => {
      mustWrite(s)
      const { folder } = c.req.valid('json')
      return c.json({ folder, ...(await s.backup(folder)) }, 200)
    })
    .openapi(secretNames, async (c) => c.json({ names: await s.vault.names() }, 200))
    .openapi(setSecret, async (c) => {
      mustWrite(s)
      await s.vault.set(c.req.valid('param').name, c.req.valid('json').value)
      return c.json({ names: await s.vault.names() }, 200)
    })
    .openapi(removeSecret, async (c) => {
      mustWrite(s)
      const { name } = c.req.valid('param')
      if (!(await s.vault.remove(name))) throw notFound('secret', name, 'list them with: keepup secrets list')
      return c.json({ names: await s.vault.names() }, 200)
    })
}
