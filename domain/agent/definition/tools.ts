import { ControlKind, Effect, ToolMeaning, ToolSpec, wireName } from '../../calls/tool-spec.ts'
import { echo } from '../../log/issues.ts'

export { ControlKind, Effect, ToolMeaning, ToolSpec, wireName }

/** The tool that a model means: by the name it was shown, or by ours. */
export const toolNamed = (tools: readonly ToolSpec[], name: string): ToolSpec | undefined =>
  tools.find((tool) => wireName(tool.name) === name || tool.name === name)

/** The tool by which an agent reads on in results that were cut; undefined: it has none. */
export const readerOf = (tools: readonly ToolSpec[]): ToolSpec | undefined =>
  tools.find(({ control }) => control === 'reads_results')

/** How to read on in a result, as the note in the shown part says it. `from`: a byte, counted from 0. */
export const readOnNote = (reader: string, toolCallId: string, from: number): string =>
  `to read on, call ${reader} with toolCallId ${JSON.stringify(toolCallId)} and from ${from}`

/** Stands for the name of a tool that does not exist. The name that the model wrote is beside it, as {@link askedName}. */
export const UNKNOWN_TOOL = 'unknown'

/**
 * The name of a tool that a model made up, as people may be shown it: short, on one line, without characters that cannot be
 * seen. Null where nothing of it is left.
 */
export function askedName(name: string): string | null {
  const seen = name
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
  return seen === '' ? null : echo(seen)
}
