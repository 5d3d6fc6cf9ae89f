import { MEMORY_TOOLS as ALL, type MemoryTool, reachOf } from '../../calls/memory/memory-tools.ts'
import { type ControlTool, controlTool } from './control-tool.ts'

/** A memory tool as a control tool: the runtime asks the memory, and its answer is the result of the call. */
const memoryControl = ({ name, description, schema, refusal, request }: MemoryTool): ControlTool =>
  controlTool({
    ...{ name, description, schema },
    kind: 'continues',
    needsTools: true,
    ...(refusal !== undefined && { refusal: (state, input) => refusal(reachOf(state), input) }),
    examine: (state, _, input) => ({ memory: request(reachOf(state), input) }),
    decide: (_, __, ___, { memory }) => ({ events: [], end: { content: memory ?? null } }),
  })

/** The memory tools (seed 001), for agents whose host has a memory. */
export const MEMORY_CONTROL_TOOLS: readonly ControlTool[] = ALL.map(memoryControl)
