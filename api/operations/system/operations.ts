import { z } from 'zod'
import { unhidable } from '../../../domain/secrets/forms.ts'
import { recordRequest } from '../access/record-request.ts'
import { operation, WithStatus } from '../operation.ts'
import { notFound } from '../problem.ts'
import { mustWrite } from '../runs/record-command.ts'
import { release } from '../runs/release-parked.ts'
import type { Services } from '../services.ts'
import { readyView } from './ready-view.ts'
import * as schema from './schemas.ts'

const params = z.object({ name: schema.SecretName })

const namesOf = async ({ vault }: Services) => ({ names: await vault.names() })

const notHidden = (name: string, fault: string) =>
  `the value of ${name} is not hidden in records and texts: ${fault}; set a longer one that is no word. Until then no run ` +
  'can be given it'

/** The process, its tables, backups and secrets. */
export const SYSTEM_OPERATIONS = [
  operation({
    name: 'getHealth',
    http: 'GET /v1/health',
    right: null,
    summary: 'Whether this process answers; needs no token',
    input: {},
    output: schema.Health,
    answers: { 200: 'It answers' },
    run: async ({ log, drivers, readOnly, autoDrive }) => ({
      ...{ ok: true, logId: log.logId, driving: drivers.count, readOnly, drivesDue: autoDrive },
    }),
  }),
  operation({
    name: 'getReadiness',
    http: 'GET /v1/ready',
    right: null,
    summary: 'Whether log and tables answer, within two seconds; needs no token',
    input: {},
    output: schema.Ready,
    answers: { 200: 'Both answer', 503: 'One does not' },
    run: async (s) => {
      const view = await readyView(s)
      return new WithStatus(view.ready ? 200 : 503, view)
    },
  }),
  operation({
    name: 'getProjections',
    http: 'GET /v1/projections',
    right: 'system.read',
    summary: 'What the tables show, and what is parked',
    input: {},
    output: schema.ProjectionsStatus,
    answers: { 200: 'Projections' },
    run: async ({ read }) => {
      const { behind } = await read.status()
      await read.current()
      return { ...(await read.status()), behind }
    },
  }),
  operation({
    name: 'rebuildProjections',
    http: 'POST /v1/projections/rebuild',
    right: 'system.operate',
    summary: 'Build the tables anew from the log, compare, switch where they are equal or a difference is accepted',
    input: { body: schema.RebuildBody.optional() },
    output: schema.Rebuilt,
    answers: { 200: 'Rebuilt' },
    run: async (s, { body: { accept = false } = {} }, caller) => {
      mustWrite(s)
      await recordRequest(s, caller, 'rebuildProjections')
      return s.read.rebuild({ accept })
    },
  }),
  operation({
    name: 'releaseParkedStreams',
    http: 'POST /v1/projections/release',
    right: 'system.operate',
    summary: 'Read parked streams again, once what kept them from being read is mended',
    input: { body: schema.ReleaseBody },
    output: schema.Released,
    answers: { 200: 'Released' },
    run: async (s, { body }, caller) => {
      mustWrite(s)
      await recordRequest(s, caller, 'releaseParkedStreams')
      const released = await release(s, body)
      await s.read.current()
      return { ...(await s.read.status()), released }
    },
  }),
  operation({
    name: 'backUp',
    http: 'POST /v1/backup',
    right: 'system.operate',
    summary: 'Write a consistent copy of the data into a new folder of this host',
    input: { body: schema.BackupBody },
    output: schema.BackedUp,
    answers: { 200: 'Written' },
    run: async (s, { body: { folder } }, caller) => {
      mustWrite(s)
      await recordRequest(s, caller, 'backUp', folder)
      return { folder, ...(await s.backup(folder)) }
    },
  }),
  operation({
    name: 'listSecretNames',
    http: 'GET /v1/secrets',
    right: 'secrets.read',
    summary: 'Names of the known secrets, never values',
    input: {},
    output: schema.SecretNames,
    answers: { 200: 'Names' },
    run: namesOf,
  }),
  operation({
    name: 'setSecret',
    http: 'PUT /v1/secrets/{name}',
    right: 'secrets.write',
    summary: 'Keep a secret in the vault',
    input: { params, body: schema.SecretBody },
    output: schema.SecretSet,
    answers: { 200: 'Names' },
    run: async (s, { params: { name }, body: { value } }, caller) => {
      mustWrite(s)
      await recordRequest(s, caller, 'setSecret', name)
      await s.vault.set(name, value)
      const fault = unhidable(value)
      return { ...(await namesOf(s)), ...(fault !== null && { warning: notHidden(name, fault) }) }
    },
  }),
  operation({
    name: 'removeSecret',
    http: 'DELETE /v1/secrets/{name}',
    right: 'secrets.write',
    summary: 'Forget a secret: no tool is given it any more; it stays hidden, and old versions of files still hold it',
    input: { params },
    output: schema.SecretNames,
    answers: { 200: 'Names' },
    run: async (s, { params: { name } }, caller) => {
      mustWrite(s)
      await recordRequest(s, caller, 'removeSecret', name)
      if (!(await s.vault.remove(name))) throw notFound('secret', name, 'list them with: keepup secrets list')
      return namesOf(s)
    },
  }),
] as const
