"""Run syncscore with the lips that visemes --refined reads.

usage: refined.py VISEMES ARGUMENTS...    (VISEMES is the file of visemes, beside syncscore; the arguments are those of syncscore)
"""
import importlib.machinery, importlib.util, sys

loader = importlib.machinery.SourceFileLoader("visemes", sys.argv.pop(1))
visemes = importlib.util.module_from_spec(importlib.util.spec_from_loader("visemes", loader))
loader.exec_module(visemes)
visemes.score.mesh_at = visemes.refined()
visemes.score.main()
