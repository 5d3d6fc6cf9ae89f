import { drop, replace } from '../mutations/edits.ts'
import { fault } from './row.ts'
import type { Rule } from './rules.ts'

const VERIFY = 'domain/proof/runtime/verify-heads.ts'
const SIGNER = 'domain/proof/runtime/log-signer.ts'
const ATTACKS = 'test/proof/attacks.test.ts'
const LAW = 'test/proof/consistent-heads.test.ts'

/** Signed heads, and what verification names. */
export const PROVING: readonly Rule[] = [
  {
    rule: 'proofs',
    says: 'a head that the log does not continue is named',
    test: ATTACKS,
    fault: fault(VERIFY, 'compare', drop('operand', 'equalBytes')),
  },
  {
    rule: 'proofs',
    says: 'a head of another size than its note is named',
    test: ATTACKS,
    fault: fault(VERIFY, 'claim', replace('condition', 'size opened', 'false')),
  },
  {
    rule: 'proofs',
    says: 'heads of origins that a loss has cut raise no alarm',
    test: 'test/proof/honest.test.ts',
    fault: fault(VERIFY, 'isCut', replace('value', 'isCut', '() => false')),
  },
  {
    rule: 'proofs',
    says: 'a log that does not continue its last head is not signed',
    test: LAW,
    fault: fault(SIGNER, '#rebuild', replace('value', '#broken', 'null')),
  },
  {
    rule: 'proofs',
    says: 'a changed edge of the tree is made again before it is signed',
    test: LAW,
    fault: fault(SIGNER, '#continues', drop('operand', 'equalBytes')),
  },
]
