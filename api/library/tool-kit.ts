import '../node-version.ts'

// `@keepup/runtime/tools`: for authors of tools.
//
//   import { checkTool, defineTool, z } from '@keepup/runtime/tools'
//
//   export const addTodo = defineTool({
//     name: 'todo:add',
//     description: 'Add one line to TODO.md, once.',
//     parameters: z.strictObject({ line: z.string().min(1).describe('The line to add') }),
//     effect: 'idempotent',
//     timeLimitMs: 10_000,
//     async run({ line }, { workspace }) {
//       …
//       return { content: 'added', changed: ['TODO.md'] }
//     },
//   })
//
//   expect(await checkTool(addTodo, { arguments: { line: 'buy milk' } })).toEqual([])   // in its test
//   openKeepUp({ data, tools: [addTodo] })                                              // in the program

export { z } from 'zod'
export { defineTool, type ToolDefinition } from '../../adapters/workspace/tools/kit.ts'
export type { ToolErrorCode } from '../../domain/calls/error-codes.ts'
export { ToolError } from '../../domain/calls/errors.ts'
export type { Effect, ToolSpec } from '../../domain/calls/tools/tool-spec.ts'
export type { Json, JsonObject } from '../../domain/log/json.ts'
export type * from '../../domain/ports/tools.ts'
export type * from '../../domain/ports/workspace.ts'
export { checkTool, type ToolSample } from './tool-kit/check.ts'
export { type FakeContext, type FakeContextOptions, fakeContext } from './tool-kit/context.ts'
export { specFaults } from './tool-kit/spec.ts'
