import { treeContract } from '../contracts/projections/tree.ts'
import { sqliteKit } from '../support/projections/kit.ts'

treeContract(sqliteKit)
