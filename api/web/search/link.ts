import type { TextMatch } from '../../operations/search/schemas.ts'

/** The address of the event with a found text. */
export const linkToMatch = ({ runId, agentId, revision }: TextMatch): string =>
  `/runs/${runId}?${agentId === runId ? '' : `agent=${agentId}&`}at=${revision}`
