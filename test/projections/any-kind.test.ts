import { anyKindContract } from '../contracts/projections/any-kind.ts'
import { sqliteKit } from '../support/projections/kit.ts'

anyKindContract(sqliteKit)
