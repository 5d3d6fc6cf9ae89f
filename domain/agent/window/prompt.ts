import { quoteCommand } from '../../calls/command-line.ts'
import { toolsOfPhase } from '../../calls/tools/phase-tools.ts'
import type { AgentSpec, QualityGate } from '../../tree/spec.ts'

/** The system prompt of an agent with this spec, recorded as `prompt_set`. */
export function systemPrompt(spec: AgentSpec): string {
  const { role, policy, workspace, contextVariables, instructions, testCommand, secrets } = spec
  const parts: string[] = []
  if (role !== null) {
    parts.push(`You are ${role.name}, ${role.profile}. Your goal: ${role.goal}.`)
    const phases = role.phases.map(
      ({ name }) => `- ${name}: ${toolsOfPhase(spec, name).join(', ') || 'no tools, thinking and writing only'}`,
    )
    parts.push(`You work in phases, each with its own tools:\n${phases.join('\n')}`)
    parts.push('You begin in the first phase. Move on with advance_phase; its result says where you are.')
    if (role.qualityGates.length > 0) parts.push(`Quality gates:\n${role.qualityGates.map(gateLine).join('\n')}`)
    if (role.prompt !== undefined) parts.push(role.prompt)
  } else {
    parts.push('You are a capable agent that works on a task with the tools you are given.')
  }
  parts.push(
    policy.mode === 'interactive'
      ? 'Call exactly one tool per turn.'
      : 'You may call several tools in one turn; independent ones run in parallel.',
    'Finish with complete_task, alone in its turn. It is the only way to finish: an answer without a tool call fails the task.',
  )
  if (workspace !== null) parts.push('Paths are relative to the workspace; nothing outside it can be reached.')
  if (testCommand !== null) parts.push(`The test command is: ${testCommand.join(' ')}`)
  if (Object.keys(contextVariables).length > 0) parts.push(`Context variables: ${JSON.stringify(contextVariables)}`)
  if (secrets.length > 0) {
    const names = secrets.map(
      ({ name, reference, server, host, command }) =>
        `- ${name}${onlyFor(server, 'tools of')}${onlyFor(host, 'requests to')}${onlyFor(command, 'commands of')}: ${reference}`,
    )
    parts.push(
      `Secrets that tools may be given. Put a reference exactly where its value is to stand in a tool's arguments: the tool gets the value, which is never shown to you.\n${names.join('\n')}`,
    )
  }
  if (instructions !== undefined) parts.push(instructions)
  return parts.join('\n\n')
}

const onlyFor = (place: string | undefined, what: string) => (place === undefined ? '' : ` (only for ${what} ${place})`)

const gateLine = ({ check, after, argv }: QualityGate): string =>
  `- ${check}${argv === undefined ? '' : ` (the command ${quoteCommand(argv)} ends with exit code 0)`} before leaving ${after}`
