import type { Tools } from '../../operations/definitions/schemas.ts'
import { shown } from '../parts/shown.ts'
import { type Draft, ruleField, TOOL_RULES } from './draft.ts'

const WORDS: Readonly<Record<(typeof TOOL_RULES)[number], string>> = {
  asks: 'asks a person at each call',
  approved: 'approved beforehand: does not ask',
  withheld: 'not offered',
}

/** A rule for each tool that the run can have, and the reasons why others are missing. */
export const ToolRules = ({ tools, faults, draft }: Tools & { draft: Draft }) => (
  <details class="tool-rules">
    <summary>Tools and approvals</summary>
    {faults.map((fault) => (
      <p key={fault} class="fault">
        {shown(fault)}
      </p>
    ))}
    {tools.map(({ name, description, effect }) => (
      <label key={name} title={shown(description)}>
        <span>
          <bdi>{shown(name)}</bdi> <span class="quiet">{effect}</span>
        </span>
        <select name={ruleField(name)}>
          <option value="">as its mode says</option>
          {TOOL_RULES.map((rule) => (
            <option key={rule} value={rule} selected={draft[ruleField(name)] === rule}>
              {WORDS[rule]}
            </option>
          ))}
        </select>
      </label>
    ))}
  </details>
)
