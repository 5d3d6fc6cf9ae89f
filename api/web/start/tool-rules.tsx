import { covers } from '../../../domain/calls/tools/tool-patterns.ts'
import type { Tools } from '../../operations/definitions/schemas.ts'
import type { StartRunInput } from '../../operations/runs/start-schemas.ts'
import { shown } from '../parts/shown.ts'
import { type Draft, keptPatterns, ruleField, TOOL_RULES, toolsOf } from './draft.ts'

const WORDS: Readonly<Record<(typeof TOOL_RULES)[number], string>> = {
  asks: 'asks a person at each call',
  approved: 'approved beforehand: does not ask',
  withheld: 'not offered',
}

/**
 * A rule for each tool that the run can have, and the reasons why others are missing. A pattern of `base` that asks for
 * approval stays in force, so the tools that it covers cannot go back to the rule of the mode.
 */
export function ToolRules({ tools, faults, draft, base }: Tools & { draft: Draft; base: StartRunInput }) {
  const names = toolsOf(
    draft,
    tools.map(({ name }) => name),
    base,
  )
  const patterns = keptPatterns(base, names)
  return (
    <details class="tool-rules">
      <summary>Tools and approvals</summary>
      {faults.map((fault) => (
        <p key={fault} class="fault">
          {shown(fault)}
        </p>
      ))}
      {names.map((name) => {
        const tool = tools.find((one) => one.name === name)
        return (
          <label key={name} title={shown(tool?.description ?? '')}>
            <span>
              <bdi>{shown(name)}</bdi>{' '}
              {tool === undefined ? (
                <span class="bad">tool not available</span>
              ) : (
                <span class="quiet">{tool.effect}</span>
              )}
            </span>
            <select name={ruleField(name)}>
              {!covers(patterns, name) && <option value="">as its mode says</option>}
              {TOOL_RULES.map((rule) => (
                <option key={rule} value={rule} selected={draft[ruleField(name)] === rule}>
                  {WORDS[rule]}
                </option>
              ))}
            </select>
          </label>
        )
      })}
    </details>
  )
}
