// The ports of the domain: types only. Adapters implement them; the domain defines their shape.
export type * from './documents.ts'
export type * from './log.ts'
export type * from './memory.ts'
export type * from './models.ts'
export type * from './tools.ts'
export type * from './web.ts'
export type * from './workspace.ts'
export type * from './world.ts'
