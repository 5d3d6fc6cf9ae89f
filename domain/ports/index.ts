// The ports that domain needs from outside: types only. Adapters stand behind these; no adapter shapes them.
export type * from './documents.ts'
export type * from './log.ts'
export type * from './memory.ts'
export type * from './models.ts'
export type * from './tools.ts'
export type * from './web.ts'
export type * from './workspace.ts'
export type * from './world.ts'
