import type { ApprovalRow } from '../read-model.ts'

/** How many of several people have approved, and who: "1 of 2 approvals, by ann". */
export function approvalCount({ needed, supporters }: Pick<ApprovalRow, 'needed' | 'supporters'>): string {
  const names = supporters.map(({ by }) => by.replace(/^(?:approver|user):/, ''))
  return `${names.length} of ${needed} approvals${names.length === 0 ? '' : `, by ${names.join(', ')}`}`
}
