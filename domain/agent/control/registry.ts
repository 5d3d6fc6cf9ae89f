import type { ToolSpec } from '../../calls/tools/tool-spec.ts'
import type { RoleDefinition } from '../../tree/spec.ts'
import { advancePhase } from './advance-phase.ts'
import { askUser } from './ask-user.ts'
import { completeTask } from './complete-task.ts'
import { type ControlTool, isFor } from './control-tool.ts'
import { delegateToAgent } from './delegate-to-agent.ts'
import { MEMORY_CONTROL_TOOLS } from './memory-tools.ts'
import { publish } from './publish.ts'
import { readHistory } from './read-history.ts'
import { readResult } from './read-result.ts'
import { requestPermission } from './request-permission.ts'
import { respond } from './respond.ts'
import { sendMessage } from './send-message.ts'
import { setContext } from './set-context.ts'
import { subscribe } from './subscribe.ts'
import { updateTasks } from './update-tasks.ts'

/**
 * All control tools, in the order in which they are offered. Add a new tool as a file of this folder and an entry here.
 */
export const CONTROL_TOOLS: readonly ControlTool[] = [
  completeTask,
  advancePhase,
  setContext,
  askUser,
  readResult,
  readHistory,
  requestPermission,
  updateTasks,
]

export const MESSAGE_TOOLS: readonly ControlTool[] = [sendMessage, publish, subscribe, respond]

/** Control tools that an agent has only if its spec lists them. */
const ON_REQUEST: readonly ControlTool[] = [delegateToAgent, ...MEMORY_CONTROL_TOOLS, ...MESSAGE_TOOLS]

const BY_NAME: ReadonlyMap<string, ControlTool> = new Map(
  [...CONTROL_TOOLS, ...ON_REQUEST].map((tool) => [tool.spec.name, tool]),
)

export const CONTROL_NAMES: readonly string[] = [...BY_NAME.keys()]

/** Whether an agent has this control tool only if its spec lists it. */
export const isOnRequest = (name: string): boolean => ON_REQUEST.some(({ spec }) => spec.name === name)

export const controlToolNamed = (name: string): ControlTool | undefined => BY_NAME.get(name)

export const controlTools = (role: RoleDefinition | null): readonly ToolSpec[] =>
  CONTROL_TOOLS.filter((tool) => isFor(tool, role)).map(({ spec }) => spec)
