import type { CallDecisionWithSupports } from '../../../projections/index.ts'
import type { ApprovalRow } from '../read-model.ts'

interface Several {
  readonly needed: number | null
  readonly supports: CallDecisionWithSupports['supports']
}

/** How many people must approve a call, and those who approved before the last one. */
export const severalApprovers = ({ needed, supports }: Several): Pick<ApprovalRow, 'needed' | 'supporters'> => ({
  needed: needed ?? 1,
  supporters: supports.map(({ by, claimed, at, reason }) => ({ by, claimed: claimed === 1, at, reason })),
})
