import { RIGHTS, ROLE_TABLE } from '../../../domain/access/rights.ts'
import { TraceHeaders } from '../headers.ts'
import { operation } from '../operation.ts'
import {
  changeAccess,
  keyPage,
  keyToRecord,
  mustNotExceed,
  mustNotUnlinkOwn,
  principalPage,
  rightsOf,
} from './principals.ts'
import { accessReport } from './report/report.ts'
import { AccessReport, ReportQuery } from './report/schemas.ts'
import * as schema from './schemas.ts'

const read = { right: 'access.read' } as const
const write = { right: 'access.write' } as const
const changed = { output: schema.AccessChanged, answers: { 200: 'Recorded' } } as const
const headers = TraceHeaders

/** Who may do what: principals, their roles and keys, and the rules about approvals. */
export const ACCESS_OPERATIONS = [
  operation({
    ...{ name: 'getAccess', http: 'GET /v1/access', ...read },
    summary: 'Whether access is on, the rights of each role, and the rules about approvals',
    input: {},
    output: schema.AccessView,
    answers: { 200: 'Access' },
    async run(s) {
      const { separation = false, approvers = [], roles = {} } = (await s.access.state()) ?? {}
      return { on: s.access.known !== null, separation, approvers, roles }
    },
  }),
  operation({
    ...{ name: 'getMe', http: 'GET /v1/access/me', right: 'self.use' },
    summary: 'The principal of this request and its rights',
    input: {},
    output: schema.Me,
    answers: { 200: 'The principal' },
    async run(_, __, caller) {
      const { principal = null, key = null } = caller.options.identity ?? {}
      return { principal, key, rights: rightsOf(caller) }
    },
  }),
  operation({
    ...{ name: 'setUpAccess', http: 'POST /v1/access', ...write },
    summary: 'Turn access on: from then on each request needs a key. Answers with the key of the first admin',
    input: { headers, body: schema.SetUpAccess },
    output: schema.CreatedKey,
    answers: { 200: 'Access is on' },
    async run(s, { body: { principal, name = principal, by } }, caller) {
      const { text, record } = keyToRecord(s, {})
      const admin = { principal, kind: 'person', name } as const
      await changeAccess(s, { kind: 'begin', admin, key: record }, caller, by)
      return { principal, id: record.key, key: text, expiresAt: null }
    },
  }),
  operation({
    ...{ name: 'setAccessRules', http: 'PUT /v1/access/rules', ...write },
    summary: 'Set the rules about approvals: separation of duties, and calls that several people must approve',
    input: { headers, body: schema.SetRules },
    ...changed,
    run: (s, { body: { by, ...rules } }, caller) => changeAccess(s, { kind: 'set_rules', ...rules }, caller, by),
  }),
  operation({
    ...{ name: 'getAccessReport', http: 'GET /v1/access/report', ...read },
    summary: 'Who could and did approve, read, ask for and erase a run; without one, the rights and their changes',
    input: { query: ReportQuery },
    output: AccessReport,
    answers: { 200: 'The report' },
    awaitsTables: true,
    run: (s, { query }) => accessReport(s, query),
  }),
  operation({
    ...{ name: 'listPrincipals', http: 'GET /v1/access/principals', ...read },
    summary: 'The people and services that have or had rights, in order of their ids',
    input: { query: schema.AccessPage },
    output: schema.PrincipalList,
    answers: { 200: 'A page of principals' },
    run: async (s, { query }) => principalPage(await s.access.state(), query),
  }),
  operation({
    ...{ name: 'addPrincipal', http: 'POST /v1/access/principals', ...write },
    summary: 'Add a person or a service',
    input: { headers, body: schema.AddPrincipal },
    ...changed,
    run: async (s, { body: { by, principal, kind, name = principal, subject, roles } }, caller) => {
      mustNotExceed(
        caller,
        roles.flatMap((role) => ROLE_TABLE[role]),
      )
      const as = { principal, kind, name, ...(subject !== undefined && { subject }) }
      return changeAccess(s, { kind: 'add', as, roles }, caller, by)
    },
  }),
  operation({
    ...{ name: 'removePrincipal', http: 'POST /v1/access/principals/{principal}/remove', ...write },
    summary: 'Remove a principal with its roles, keys and sessions. Its id stays taken',
    input: { params: schema.PrincipalParam, headers, body: schema.RemovePrincipal },
    ...changed,
    run: (s, { params: { principal }, body: { by, reason = null } }, caller) =>
      changeAccess(s, { kind: 'remove', principal, reason }, caller, by),
  }),
  operation({
    ...{ name: 'grantRole', http: 'POST /v1/access/principals/{principal}/grant', ...write },
    summary: 'Grant a role to a principal',
    input: { params: schema.PrincipalParam, headers, body: schema.ChangeRole },
    ...changed,
    run: async (s, { params: { principal }, body: { by, role } }, caller) => {
      mustNotExceed(caller, ROLE_TABLE[role])
      return changeAccess(s, { kind: 'grant', principal, role }, caller, by)
    },
  }),
  operation({
    ...{ name: 'takeRole', http: 'POST /v1/access/principals/{principal}/take', ...write },
    summary: 'Take a role from a principal. The last admin keeps the role',
    input: { params: schema.PrincipalParam, headers, body: schema.ChangeRole },
    ...changed,
    run: (s, { params: { principal }, body: { by, role } }, caller) =>
      changeAccess(s, { kind: 'take', principal, role }, caller, by),
  }),
  operation({
    ...{ name: 'linkPrincipals', http: 'POST /v1/access/principals/{principal}/link', ...write },
    summary: 'Say that two ids belong to one person: separation of duties and several approvers then count one person',
    input: { params: schema.PrincipalParam, headers, body: schema.LinkPrincipals },
    ...changed,
    run: (s, { params: { principal }, body: { by, other, reason } }, caller) =>
      changeAccess(s, { kind: 'link', principal, other, reason }, caller, by),
  }),
  operation({
    ...{ name: 'unlinkPrincipals', http: 'POST /v1/access/principals/{principal}/unlink', ...write },
    summary: 'Say that two linked ids belong to two people. Nobody may unlink their own id',
    input: { params: schema.PrincipalParam, headers, body: schema.LinkPrincipals },
    ...changed,
    async run(s, { params: { principal }, body: { by, other, reason } }, caller) {
      await mustNotUnlinkOwn(s, principal, caller)
      return changeAccess(s, { kind: 'unlink', principal, other, reason }, caller, by)
    },
  }),
  operation({
    ...{ name: 'createKey', http: 'POST /v1/access/principals/{principal}/keys', ...write },
    summary: 'Create a key for a principal. The answer is the only place that shows it',
    input: { params: schema.PrincipalParam, headers, body: schema.CreateKey },
    output: schema.CreatedKey,
    answers: { 200: 'Created' },
    async run(s, { params: { principal }, body: { by, ...asked } }, caller) {
      mustNotExceed(caller, asked.rights ?? RIGHTS)
      const { text, record } = keyToRecord(s, asked)
      await changeAccess(s, { kind: 'create_key', principal, key: record }, caller, by)
      return { principal, id: record.key, key: text, expiresAt: record.expiresAt }
    },
  }),
  operation({
    ...{ name: 'listKeys', http: 'GET /v1/access/keys', ...read },
    summary: 'The keys without their secrets, in order of their ids',
    input: { query: schema.KeysQuery },
    output: schema.KeyList,
    answers: { 200: 'A page of keys' },
    run: async (s, { query }) => keyPage(await s.access.state(), query, s.clock.now()),
  }),
  operation({
    ...{ name: 'revokeKey', http: 'POST /v1/access/keys/{key}/revoke', ...write },
    summary: 'Revoke a key. Sessions that it opened end too',
    input: { params: schema.KeyParam, headers, body: schema.RevokeKey },
    ...changed,
    run: (s, { params: { key }, body: { by, reason = null } }, caller) =>
      changeAccess(s, { kind: 'revoke_key', key, reason }, caller, by),
  }),
] as const
