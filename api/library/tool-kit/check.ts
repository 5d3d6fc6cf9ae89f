import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { ToolSpec } from '../../../domain/calls/tools/tool-spec.ts'
import type { JsonObject } from '../../../domain/log/json.ts'
import type { Tool, ToolResult, Workspace } from '../../../domain/ports/index.ts'
import { type FakeContext, type FakeContextOptions, fakeContext } from './context.ts'
import { specFaults } from './spec.ts'

/** A call to check a tool with. */
export interface ToolSample extends Pick<FakeContextOptions, 'files' | 'commands'> {
  /** Arguments as a model would give them. The tool must succeed with them. */
  readonly arguments: JsonObject
  /** The tool's effects outside the workspace, as JSON, so that the check can detect repeated effects. */
  observe?(): unknown
}

/**
 * Checks a tool's declarations by running it in a fake context. Returns one sentence per fault; empty: none found.
 * Checks the spec, the schema against the sample's arguments, that the result is JSON and names the changed files, that
 * writes stay below the declared paths, and the effect class: `pure` changes nothing, a repeated `idempotent` call with
 * the same call id changes nothing more, and the probe of `reconcilable` reports the call only after it has happened.
 * Effects outside the workspace are visible only through `observe`.
 */
export async function checkTool(tool: Tool, sample: ToolSample): Promise<string[]> {
  const faults = specFaults(tool)
  if (faults.length > 0) return faults
  const accepted = z.fromJSONSchema(tool.spec.parameters as z.core.JSONSchema.JSONSchema).safeParse(sample.arguments)
  if (!accepted.success) {
    return accepted.error.issues.map(
      ({ path, message }) => `arguments.${path.join('.')}: the schema refuses: ${message}`,
    )
  }
  const { files, commands } = sample
  const context = await fakeContext({ ...(files && { files }), ...(commands && { commands }) })
  try {
    return await runFaults(tool, sample, context)
  } catch (error) {
    return [`it fails with the sample's arguments: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    await context.close()
  }
}

async function runFaults(tool: Tool, sample: ToolSample, context: FakeContext): Promise<string[]> {
  const faults: string[] = []
  const args = () => structuredClone(sample.arguments)
  const { effect } = tool.spec
  const before = await world(context, sample)
  if ((await tool.probe?.(args(), context))?.found === 'happened') {
    faults.push('probe: says that the call happened before it ran')
  }
  if (!isDeepStrictEqual(await world(context, sample), before)) faults.push('probe: it changes the world')
  const result = await tool.run(args(), context)
  const after = await world(context, sample)
  faults.push(...resultFaults(result))
  const changed = (await context.workspace.versions.changes(before.tree, after.tree)).map(({ path }) => path)
  faults.push(...(await changeFaults(tool.spec, sample.arguments, result, changed, context.workspace)))
  if (effect === 'pure' && !isDeepStrictEqual(after, before))
    faults.push('effect: it is called pure, but changes the world')
  if (effect === 'idempotent') {
    await tool.run(args(), { ...context, attempt: context.attempt + 1 })
    if (!isDeepStrictEqual(await world(context, sample), after)) {
      faults.push('effect: it is called idempotent, but a second run of the same call changes more')
    }
  }
  if (effect === 'reconcilable' && (await tool.probe?.(args(), context))?.found !== 'happened') {
    faults.push('probe: does not say that the call happened after it ran')
  }
  return faults
}

const world = async ({ workspace }: FakeContext, sample: ToolSample) => ({
  tree: await workspace.versions.snapshot(),
  outside: structuredClone(await sample.observe?.()),
})

function resultFaults({ content, detail = {} }: ToolResult): string[] {
  const stored: unknown = JSON.parse(JSON.stringify({ content, detail }))
  if (isDeepStrictEqual(stored, { content, detail })) return []
  return [
    'result: content and detail hold what JSON does not (undefined, a Date, a class …) and would be stored otherwise',
  ]
}

async function changeFaults(
  spec: ToolSpec,
  args: JsonObject,
  { changed: told = [] }: ToolResult,
  changed: readonly string[],
  workspace: Workspace,
): Promise<string[]> {
  const untold = changed.filter((path) => !told.includes(path))
  const faults = untold.map((path) => `result.changed: ${path} was changed and is not named`)
  if (spec.barrier || Object.keys(spec.paths).length === 0) return faults
  // Calls on different paths run in parallel, so undeclared paths are unprotected.
  const writes = Object.keys(spec.paths).filter((key) => spec.paths[key] === 'write' && typeof args[key] === 'string')
  const roots = await Promise.all(writes.map((key) => workspace.resolve(args[key] as string)))
  const free = changed.filter(
    (path) => !roots.some((root) => root === '' || path === root || path.startsWith(`${root}/`)),
  )
  return [...faults, ...free.map((path) => `spec.paths: ${path} was changed, but no argument declares to write there`)]
}
