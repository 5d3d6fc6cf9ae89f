import type { TextMatch } from '../../operations/search/schemas.ts'
import { shown } from '../parts/shown.ts'

const oneLine = (text: string): string => shown(text.replaceAll(/\s+/g, ' '))

/** A match with the characters around it, on one line. */
export const Snippet = ({ match: { kind, before, match, after } }: { match: TextMatch }) => (
  <span class="run-outcome snippet">
    {kind}:{' '}
    <bdi>
      {oneLine(before.slice(-30))}
      <mark>{oneLine(match)}</mark>
      {oneLine(after)}
    </bdi>
  </span>
)
