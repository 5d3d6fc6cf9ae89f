// The ports that domain needs from outside: types only. Adapters stand behind these; no adapter shapes them.
export type * from './ports/documents.ts'
export type * from './ports/log.ts'
export type * from './ports/memory.ts'
export type * from './ports/models.ts'
export type * from './ports/tools.ts'
export type * from './ports/web.ts'
export type * from './ports/workspace.ts'
export type * from './ports/world.ts'
