import { contextStoresContract } from '../contracts/projections/context-stores.ts'
import { sqliteKit } from '../support/projections/kit.ts'

contextStoresContract(sqliteKit)
