import { echo } from '../../log/issues.ts'
import { type ControlKind, type ToolSpec, wireName } from './tool-spec.ts'

/** The tool that a model calls, by its wire name or by our name. */
export const toolNamed = (tools: readonly ToolSpec[], name: string): ToolSpec | undefined =>
  tools.find((tool) => wireName(tool.name) === name || tool.name === name)

/** The tool that reads the rest of truncated results; undefined: the agent has none. */
export const readerOf = (tools: readonly ToolSpec[]): ToolSpec | undefined =>
  tools.find(({ control }) => control === 'reads_results')

/** The note in a truncated result that explains how to read on. `from`: byte offset, counted from 0. */
export const readOnNote = (reader: string, toolCallId: string, from: number): string =>
  `to read on, call ${reader} with toolCallId ${JSON.stringify(toolCallId)} and from ${from}`

/** The recorded name of a nonexistent tool. {@link askedName} gives the name that the model wrote. */
export const UNKNOWN_TOOL = 'unknown'

/**
 * The displayable name of a nonexistent tool: short, on one line, without invisible characters. Null: nothing remains.
 */
export function askedName(name: string): string | null {
  const seen = name
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
  return seen === '' ? null : echo(seen)
}

/** The control kind of a tool as recorded in the spec; false: no control tool has this name. */
export const controlKind = (
  { spec }: { readonly spec: { readonly tools: readonly ToolSpec[] } },
  toolName: string,
): ControlKind | false => spec.tools.find(({ name }) => name === toolName)?.control ?? false
