"""Faster ways to run a launch whose records are known: replay and fused.

stream  : keeps what the calls of a block do, as data
plan    : the whole launch as a table of rows, for any data of the same shape
replay  : runs the table in one compiled call, over the bodies that step mode calls one by one
dataflow: what each byte that reaches GM was computed from
program : what a loop over elements computes, as text
emit    : turns the text into one compiled loop, from the definitions of the bodies; says how an
          instruction becomes fusable
fused   : runs those loops, and checks them against replay
sweep   : runs such a loop over every bit pattern of an input

Every engine leaves the bytes in GM that step mode leaves. What an engine cannot run it refuses with
a `NoPlanError`, whose text says why; the launch then takes the next slower one.
"""
