/** The rights. Each operation needs one at most. */
export const RIGHTS = [
  // Lists, states and numbers of runs, without the texts of people, models and tools.
  'runs.read',
  // Prompts, answers, results and files of runs.
  'bodies.read',
  ...(['runs.start', 'runs.steer', 'runs.decide', 'runs.erase'] as const),
  ...(['documents.read', 'documents.write', 'documents.erase'] as const),
  ...(['memories.read', 'memories.write', 'memories.erase'] as const),
  ...(['stores.read', 'stores.write', 'stores.erase'] as const),
  // Kinds of streams without rights of their own.
  ...(['streams.read', 'streams.write', 'streams.erase'] as const),
  ...(['log.read', 'log.verify', 'log.repair', 'tables.ask'] as const),
  ...(['secrets.read', 'secrets.write', 'system.read', 'system.operate'] as const),
  ...(['access.read', 'access.write'] as const),
  // To know who one is, and to open the page. Every principal may.
  'self.use',
] as const
export type Right = (typeof RIGHTS)[number]

export const ROLES = ['viewer', 'auditor', 'operator', 'approver', 'admin'] as const
export type Role = (typeof ROLES)[number]

export type RoleTable = Readonly<Record<Role, readonly Right[]>>

const VIEWER: readonly Right[] = ['runs.read', 'system.read', 'self.use']
const READER: readonly Right[] = [
  ...VIEWER,
  ...(['bodies.read', 'documents.read', 'memories.read', 'stores.read', 'streams.read'] as const),
]

/**
 * The rights of each role. SQL reads all tables, also those of access, so only auditors and admins have `tables.ask`. The
 * log records this table when {@link ROLE_TABLE_VERSION} is higher than that of the recorded one.
 */
export const ROLE_TABLE: RoleTable = {
  viewer: VIEWER,
  auditor: [...READER, 'tables.ask', 'log.read', 'log.verify', 'access.read'],
  operator: [
    ...READER,
    ...(['runs.start', 'runs.steer', 'documents.write', 'memories.write', 'stores.write', 'streams.write'] as const),
    'secrets.read',
  ],
  approver: [...READER, 'runs.decide'],
  admin: RIGHTS,
}

/** Increase this with each change of {@link ROLE_TABLE}. An older keepup on the same log then keeps the newer table. */
export const ROLE_TABLE_VERSION = 1
