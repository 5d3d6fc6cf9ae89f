import { RIGHTS, type Right, ROLE_TABLE, ROLES } from '../../../domain/access/rights.ts'

/** What each right allows, for people. */
export const RIGHT_TEXTS: Readonly<Record<Right, string>> = {
  'runs.read': 'see lists, states, costs and permissions of runs, without the texts of people, models and tools',
  'bodies.read': 'see prompts, answers, results, files and questions of runs, and follow their events',
  'runs.start': 'start and fork runs, and report spans of other agents',
  'runs.steer': 'drive, pause and cancel runs, give them input and messages, and restore their files',
  'runs.decide': 'decide approvals and unknown outcomes, and revoke permissions',
  'runs.erase': 'erase texts of runs, set retention, set and lift holds',
  'documents.read': 'read documents',
  'documents.write': 'create and edit documents',
  'documents.erase': 'erase requests to documents',
  'memories.read': 'read facts',
  'memories.write': 'record, correct and forget facts',
  'memories.erase': 'erase facts',
  'stores.read': 'read variables',
  'stores.write': 'set variables',
  'stores.erase': 'erase variables',
  'streams.read': 'read streams of other kinds',
  'streams.write': 'write to streams of other kinds',
  'streams.erase': 'erase streams of other kinds',
  'log.read': 'read every stream and event of the log, and consume events',
  'log.verify': 'verify the log, and read its heads, proofs, packs and exports',
  'log.repair': 'accept losses, and release the calls of a repaired log',
  'tables.ask': 'ask all tables in SQL, those of access too',
  'secrets.read': 'see the names of secrets',
  'secrets.write': 'set and remove secrets',
  'system.read': 'see models, tools, agents, retention, webhooks and the state of this keepup',
  'system.operate': 'back up, rebuild tables, manage anchors and witnesses, and start runs without a sandbox',
  'access.read': 'see principals, keys, rules, holds and the access report',
  'access.write': 'change principals, roles, keys and rules',
  'self.use': 'see who one is, and open the page',
}

/** The rights as a table of Markdown. */
export const rightsTable = (): string =>
  [
    '| right | allows to | roles |',
    '|---|---|---|',
    ...RIGHTS.map((right) => {
      const roles = ROLES.filter((role) => ROLE_TABLE[role].includes(right))
      return `| \`${right}\` | ${RIGHT_TEXTS[right]} | ${roles.length === ROLES.length ? 'all' : roles.join(', ')} |`
    }),
  ].join('\n')
