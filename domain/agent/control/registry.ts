import type { RoleDefinition } from '../definition/spec.ts'
import type { ToolSpec } from '../definition/tools.ts'
import { advancePhase } from './advance-phase.ts'
import { askUser } from './ask-user.ts'
import { completeTask } from './complete-task.ts'
import { type ControlTool, isFor } from './control-tool.ts'
import { delegateToAgent } from './delegate-to-agent.ts'
import { publish } from './publish.ts'
import { readResult } from './read-result.ts'
import { respond } from './respond.ts'
import { sendMessage } from './send-message.ts'
import { setContext } from './set-context.ts'
import { subscribe } from './subscribe.ts'

/** All control tools, in the order in which they are offered. A new one is a file of this folder and an entry here. */
export const CONTROL_TOOLS: readonly ControlTool[] = [completeTask, advancePhase, setContext, askUser, readResult]

/** Control tools that an agent has only where its spec says so (`delegation`). */
const OF_TREES: readonly ControlTool[] = [delegateToAgent, sendMessage, publish, subscribe, respond]

const BY_NAME: ReadonlyMap<string, ControlTool> = new Map(
  [...CONTROL_TOOLS, ...OF_TREES].map((tool) => [tool.spec.name, tool]),
)

/** The control tool of this name; undefined: there is none. */
export const controlToolNamed = (name: string): ControlTool | undefined => BY_NAME.get(name)

/** The control tools of an agent with this role. */
export const controlTools = (role: RoleDefinition | null): readonly ToolSpec[] =>
  CONTROL_TOOLS.filter((tool) => isFor(tool, role)).map(({ spec }) => spec)

/** The control tools of an agent whose spec says that it delegates. */
export const treeTools: readonly ToolSpec[] = OF_TREES.map(({ spec }) => spec)

/** Is it a tool of agents that delegate? */
export const isTreeTool = (name: string): boolean => treeTools.some((tool) => tool.name === name)
